"use strict";
// Shows the JSON of the trace. Pages may have written any of it, so it only becomes text.
(() => {
  const trace = JSON.parse(document.getElementById("trace").textContent);
  const operations = trace.operations;
  const byId = (id) => document.getElementById(id);
  const rows = new Map();
  const bars = new Map();
  let chosen = null;

  function element(tag, props, ...children) {
    const made = Object.assign(document.createElement(tag), props);
    made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
    return made;
  }

  const milliseconds = (ms) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10000 ? 2 : 1)} s`);
  const kilobytes = (bytes) => (bytes < 1000 ? `${bytes} B` : `${(bytes / 1000).toFixed(1)} kB`);
  const counted = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
  const numbered = (entries, range) => entries.filter((entry) => entry.number >= range[0] && entry.number <= range[1]);
  const isFailed = (operation) => operation.outcome !== "ok";
  const consoleErrors = (operation) => numbered(trace.console, operation.console).filter((entry) => entry.level === "error").length;
  const failedRequests = (operation) =>
    numbered(trace.network, operation.network).filter((entry) => entry.state === "failed" || entry.status >= 400).length;

  function head() {
    const session = trace.session;
    const kind = session.is_virtual ? "virtual device (Chromium, not a phone)" : null;
    const started = new Date(session.started_s * 1000);
    byId("session").textContent = [session.serial, kind, session.webview, started.toLocaleString()].filter(Boolean).join(" · ");
    const spent = operations.map((operation) => operation.cost).filter(Boolean);
    const sum = (key) => spent.reduce((total, cost) => total + cost[key], 0);
    const failed = operations.filter(isFailed).length;
    byId("totals").append(
      `${counted(operations.length, "operation")} in ${milliseconds(session.ms)}`,
      failed ? element("span", { className: "bad", textContent: ` · ${failed} not ok` }) : "",
      ` · ${counted(sum("round_trips"), "round trip")} · ${kilobytes(sum("bytes_sent"))} sent, ${kilobytes(sum("bytes_received"))} received`,
      ` · ${counted(trace.console.length, "console message")} · ${counted(trace.network.length, "request")}`,
    );
    if (trace.left_out.length) {
      byId("left-out").hidden = false;
      byId("left-out").textContent = `Left out: ${trace.left_out.join("; ")}`;
    }
    document.title = `Trace of ${session.serial}, ${started.toLocaleString()}`;
  }

  // From the first operation on; before it the device starts.
  function overview() {
    if (!operations.length) return;
    const begin = operations[0].at_ms;
    const whole = Math.max(...operations.map((operation) => operation.at_ms + operation.ms)) - begin || 1;
    for (const operation of operations) {
      const bar = element("i", { title: `${operation.number} ${operation.code}`, className: isFailed(operation) ? "failed" : "" });
      bar.style.left = `${((operation.at_ms - begin) / whole) * 100}%`;
      bar.style.width = `${(operation.ms / whole) * 100}%`;
      bar.addEventListener("click", () => choose(operation));
      bars.set(operation, bar);
    }
    const tick = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600].find((s) => whole / s / 1000 <= 10) || 7200;
    for (let at = tick; at * 1000 < whole * 0.97; at += tick) {
      const mark = element("span", { textContent: `${Number(at.toFixed(1))} s` });
      mark.style.left = `${((at * 1000) / whole) * 100}%`;
      byId("overview").append(mark);
    }
    byId("overview").append(...bars.values());
  }

  // The call as it is read: what was done, to what, with what.
  function words(operation) {
    const at = operation.code.lastIndexOf(`.${operation.name}(`);
    const subject = at < 0 ? "" : operation.code.slice(0, at).replace(/^page\.?/, "");
    const given = at < 0 ? operation.code : operation.code.slice(at + operation.name.length + 2, -1);
    return [element("b", { textContent: operation.name }), [subject, given].filter(Boolean).join(subject && given ? " ← " : "")];
  }

  function list() {
    const hasTabs = new Set(operations.map((operation) => operation.tab)).size > 1;
    for (const operation of operations) {
      const errors = consoleErrors(operation);
      const requests = failedRequests(operation);
      const notes = [
        operation.error ? operation.error.message : null,
        operation.element ? `${operation.element.role} ${JSON.stringify(operation.element.name)}` : null,
        errors ? counted(errors, "console error") : null,
        requests ? counted(requests, "failed request") : null,
      ].filter(Boolean);
      const button = element(
        "button",
        { type: "button" },
        element("span", { className: "number", textContent: operation.number }),
        element("span", { className: "code", title: operation.code }, ...words(operation).flatMap((part) => [part, " "])),
        element("span", { className: "ms", textContent: `${hasTabs ? `${operation.tab} · ` : ""}${milliseconds(operation.ms)}` }),
        notes.length ? element("span", { className: "note", textContent: notes.join(" · ") }) : "",
      );
      button.addEventListener("click", () => choose(operation));
      rows.set(operation, element("li", { className: isFailed(operation) ? "failed" : "" }, button));
    }
    byId("operations").append(...rows.values());
  }

  function sift() {
    const words = byId("find").value.toLowerCase();
    const onlyFailures = byId("failures").checked;
    for (const [operation, row] of rows) {
      const fits = `${operation.code} ${operation.url} ${operation.tab} ${operation.error ? operation.error.message : ""}`.toLowerCase();
      row.hidden = !fits.includes(words) || (onlyFailures && !isFailed(operation));
    }
  }

  // The newest screenshot of the same tab at or before an operation.
  function screenshotUpTo(operation, index) {
    for (let at = index; at >= 0; at--) {
      if (operations[at].tab === operation.tab && typeof operations[at].screenshot === "number") return operations[at];
    }
    return null;
  }

  function screenshot(taken, caption) {
    const image = element("img", { alt: caption, src: `data:image/webp;base64,${trace.screenshots[taken.screenshot]}` });
    image.addEventListener("click", () => image.classList.toggle("large"));
    return element("figure", {}, element("figcaption", { textContent: caption }), image);
  }

  function screenshots(operation) {
    const index = operations.indexOf(operation);
    const before = screenshotUpTo(operation, index - 1);
    const after = screenshotUpTo(operation, index);
    const shown = [];
    if (before && after !== before) shown.push(screenshot(before, "before"));
    if (after) shown.push(screenshot(after, after === operation ? "after" : `unchanged since ${after.number}`));
    return shown.length ? element("div", { className: "screenshots" }, ...shown) : null;
  }

  function changed(delta) {
    const pre = element("pre", {});
    for (const line of delta.split("\n")) {
      const mark = line.startsWith("+ ") ? "added" : line.startsWith("- - ") ? "removed" : "";
      pre.append(element("span", { className: mark, textContent: `${line}\n` }));
    }
    return pre;
  }

  function folded(title, count, ...content) {
    return element("details", {}, element("summary", {}, title, count === null ? "" : element("small", { textContent: ` ${count}` })), ...content);
  }

  function snapshot(title, number) {
    return typeof number === "number" ? folded(title, null, element("pre", { textContent: trace.snapshots[number] })) : null;
  }

  function table(headings, lines) {
    const cells = (tag, values) =>
      values.map((value) => element(tag, Array.isArray(value) ? { textContent: value[0], className: value[1] } : { textContent: value ?? "" }));
    return element(
      "table",
      {},
      element("thead", {}, element("tr", {}, ...cells("th", headings))),
      element("tbody", {}, ...lines.map((line) => element("tr", {}, ...cells("td", line)))),
    );
  }

  function section(title, entries, made) {
    const details = folded(title, entries.length, entries.length ? made() : element("p", { className: "empty", textContent: "nothing" }));
    details.open = entries.length > 0 && entries.length <= 20;
    return details;
  }

  function choose(operation, scroll = true) {
    if (chosen) {
      rows.get(chosen).firstChild.removeAttribute("aria-current");
      bars.get(chosen).classList.remove("chosen");
    }
    chosen = operation;
    rows.get(operation).firstChild.setAttribute("aria-current", "true");
    bars.get(operation).classList.add("chosen");
    if (scroll) rows.get(operation).scrollIntoView({ block: "nearest" });
    const cost = operation.cost;
    const facts = [
      operation.tab,
      `at ${milliseconds(operation.at_ms - operations[0].at_ms)}`,
      `took ${milliseconds(operation.ms)}`,
      cost ? `${counted(cost.round_trips, "round trip")}, ${milliseconds(cost.ms)} in the page` : null,
      cost ? `${kilobytes(cost.bytes_sent)} sent, ${kilobytes(cost.bytes_received)} received` : null,
      cost && cost.est_tokens ? `about ${cost.est_tokens} tokens` : null,
      operation.url,
    ].filter(Boolean);
    const error = operation.error;
    const log = numbered(trace.console, operation.console);
    const requests = numbered(trace.network, operation.network);
    const decisions = trace.policy.filter((entry) => entry.operation === operation.number);
    const result = operation.result && Object.keys(operation.result).length ? JSON.stringify(operation.result, null, 2) : "";
    const words = element(
      "div",
      {},
      ...[
        error
          ? element("p", { className: "error" }, element("b", { textContent: error.code || "error" }), ` ${error.hint ? `${(error.message || "").replace(/[^.!?:…]$/, "$&.")} ${error.hint}` : error.message || ""}`)
          : null,
        operation.delta ? element("h3", { textContent: "What changed" }) : null,
        operation.delta ? changed(operation.delta) : null,
        snapshot(operation.before === operation.after ? "Last snapshot before it" : "Snapshot before", operation.before),
        operation.before === operation.after ? null : snapshot("Snapshot after", operation.after),
        result ? folded("Result", null, element("pre", { textContent: result })) : null,
        section("Console", log, () =>
          table(["level", "message", "where"], log.map((e) => [[e.level, e.level === "error" ? "bad" : ""], e.text, e.location])),
        ),
        section("Network", requests, () =>
          table(
            ["status", "request", "type", "size", "time"],
            requests.map((e) => [
              [String(e.status ?? e.failure ?? e.state), e.state === "failed" || e.status >= 400 ? "bad" : ""],
              `${e.method} ${e.url}${e.failure ? ` (${e.failure})` : ""}`,
              e.type,
              kilobytes(e.encoded_bytes || 0),
              e.duration_ms === null ? "" : milliseconds(e.duration_ms),
            ]),
          ),
        ),
        section("Connections", decisions, () =>
          table(
            ["decision", "to", "address"],
            decisions.map((e) => [[e.decision, e.decision.startsWith("allow") ? "good" : "bad"], `${e.host}:${e.port}`, e.address]),
          ),
        ),
      ].filter(Boolean),
    );
    byId("detail").replaceChildren(
      element("h2", { textContent: operation.code }),
      element("div", { className: "facts" }, ...facts.map((fact) => element("span", { textContent: fact }))),
      element("div", { className: "columns" }, words, ...[screenshots(operation)].filter(Boolean)),
    );
    byId("detail").scrollTop = 0;
    history.replaceState(null, "", `#${operation.number}`);
  }

  function step(by) {
    const shown = operations.filter((operation) => !rows.get(operation).hidden);
    const next = shown[Math.min(Math.max(shown.indexOf(chosen) + by, 0), shown.length - 1)];
    if (next) choose(next);
  }

  head();
  overview();
  list();
  byId("find").addEventListener("input", sift);
  byId("failures").addEventListener("change", sift);
  document.addEventListener("keydown", (event) => {
    if (event.target.matches("input[type=search]")) return;
    if (event.key === "ArrowDown" || event.key === "j") step(1);
    else if (event.key === "ArrowUp" || event.key === "k") step(-1);
    else return;
    event.preventDefault();
  });
  // trace.html#12 shows operation 12; without a number the first that failed.
  const named = operations.find((operation) => `#${operation.number}` === location.hash);
  if (operations.length) choose(named || operations.find(isFailed) || operations[0]);
  else byId("detail").append(element("p", { className: "empty", textContent: "No operation was recorded." }));
})();
