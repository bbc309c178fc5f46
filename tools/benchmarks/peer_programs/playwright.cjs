// Playwright over CDP, one JSON line in, one out: playwright.cjs NODE_MODULES ENDPOINT
const [modules, endpoint] = process.argv.slice(2);
const { chromium } = require(`${modules}/playwright-core`);
const lines = require('readline').createInterface({ input: process.stdin });

let page;
const deeds = {
  async connect() {
    const browser = await chromium.connectOverCDP(endpoint, { noDefaults: true });
    page = browser.contexts().flatMap((context) => context.pages()).find((one) => one.url().startsWith('http:'));
    return page.url();
  },
  goto: async ({ url }) => { await page.goto(url); },
  snapshot: () => page.locator('body').ariaSnapshot(),
  click: ({ selector }) => page.locator(selector).click(),
  fill: ({ selector, value }) => page.locator(selector).fill(value),
  select: ({ selector, value }) => page.locator(selector).selectOption(value),
};

(async () => {
  for await (const line of lines) {
    const request = JSON.parse(line);
    const began = process.hrtime.bigint();
    try {
      const result = await deeds[request.do](request);
      const ms = Number(process.hrtime.bigint() - began) / 1e6;
      console.log(JSON.stringify({ ms, chars: typeof result === 'string' ? result.length : 0 }));
    } catch (error) {
      console.log(JSON.stringify({ error: String(error).slice(0, 300) }));
    }
  }
  process.exit(0);
})();
