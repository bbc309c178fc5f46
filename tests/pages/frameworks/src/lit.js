import { LitElement, html, render, nothing } from 'lit';
import { live } from 'lit/directives/live.js';
import { repeat } from 'lit/directives/repeat.js';
import * as c from './common.js';

/** All of it in an open shadow root; the dialog is rendered into the body. */
class App extends LitElement {
  static properties = Object.fromEntries('name query found top said open items picking date count tags loaded path agreed'.split(' ').map((key) => [key, { state: true }]));
  constructor() {
    super();
    Object.assign(this, { name: '', query: '', found: [], top: 0, said: '', open: false, items: ['Apple', 'Birch', 'Cedar'], picking: false, date: '', count: 0, tags: [], loaded: 10, path: '/', agreed: false });
    this.late = c.debounce(() => (this.found = c.search(this.query)), 150);
    this.portal = document.body.appendChild(document.createElement('div'));
  }
  firstUpdated() {
    const end = this.renderRoot.querySelector('#end');
    new IntersectionObserver(([it]) => it.isIntersecting && (this.loaded = Math.min(this.loaded + 10, 40)), { root: end.parentElement }).observe(end);
  }
  updated() {
    render(this.open ? html`<div role="dialog" aria-label="Sure?"><button @click=${() => { this.open = false; this.said = 'confirmed'; }}>Confirm</button></div>` : nothing, this.portal);
  }
  go(event, to) { event.preventDefault(); history.pushState(0, '', '#' + to); this.path = to; }
  drop(e, item) { const to = c.itemAt(e.clientX, e.clientY); if (to && to !== item) this.items = c.moved(this.items, item, to); }
  render() {
    return html`<style>.window { height: 200px; overflow: auto } .row { height: 40px; display: flex; gap: 8px } .handle { touch-action: none; padding: 12px }</style><main>
      <p role="status">${this.said}</p>
      <label>Name <input .value=${live(this.name)} @input=${(e) => { this.name = e.target.value.toUpperCase(); this.requestUpdate(); }}></label>
      <p>Hello ${this.name}</p>
      <label><input type="checkbox" .checked=${this.agreed} @change=${(e) => (this.agreed = e.target.checked)}> Agree</label>
      <button ?disabled=${!this.agreed} @click=${() => (this.said = 'sent')}>Send</button>
      <input type="search" aria-label="City" @input=${(e) => { this.query = e.target.value; this.late(); }}>
      <ul aria-label="Cities">${repeat(this.found, (city) => city, (city) => html`<li><button @click=${() => (this.said = 'city ' + city)}>${city}</button></li>`)}</ul>
      <div role="region" aria-label="Rows" class="window" @scroll=${(e) => (this.top = e.target.scrollTop)}>
        <div style="height:${c.ROWS * c.ROW_PX}px;position:relative"><div role="list" style="position:absolute;top:${c.windowAt(this.top)[0] * c.ROW_PX}px">
          ${c.windowAt(this.top).map((row) => html`<div class="row" role="listitem"><span>Row ${row}</span><button @click=${() => (this.said = 'picked row ' + row)}>Pick</button></div>`)}
        </div></div>
      </div>
      <button @click=${() => (this.open = true)}>Open dialog</button>
      <ol aria-label="Trees">${repeat(this.items, (item) => item, (item) => html`<li data-item=${item}><button class="handle" @pointerdown=${(e) => e.target.setPointerCapture(e.pointerId)} @pointerup=${(e) => this.drop(e, item)}>${item}</button></li>`)}</ol>
      <label>Date <input readonly .value=${this.date}></label>
      <button @click=${() => (this.picking = !this.picking)}>Choose date</button>
      ${this.picking ? html`<div role="group" aria-label="February">${c.DAYS.map((day) => html`<button aria-label=${day} @click=${() => { this.date = day; this.picking = false; }}>${+day.slice(8)}</button>`)}</div>` : nothing}
      <div contenteditable="true" role="textbox" aria-label="Essay" @input=${(e) => (this.count = c.words(e.currentTarget.innerText))}></div>
      <p>${this.count} words</p>
      <label>Tags <select multiple @change=${(e) => (this.tags = [...e.target.selectedOptions].map((it) => it.value))}>${['red', 'green', 'blue'].map((it) => html`<option>${it}</option>`)}</select></label>
      <p>Tags: ${this.tags.join('+')}</p>
      <label>Attach <input type="file" @change=${(e) => (this.said = 'file ' + e.target.files[0].name)}></label>
      <div role="region" aria-label="Feed" class="window">${Array.from({ length: this.loaded }, (_, n) => html`<p>Story ${n}</p>`)}<div id="end">…</div></div>
      <nav><a href="#/" @click=${(e) => this.go(e, '/')}>Start</a> <a href="#/about" @click=${(e) => this.go(e, '/about')}>About</a></nav>
      ${this.path === '/about' ? html`<h2>About us</h2>` : html`<h2>Start here</h2>`}
    </main>`;
  }
}
customElements.define('lit-app', App);
document.getElementById('app').append(new App());
setTimeout(() => {
  const target = document.getElementById('late');
  let n = 5;
  const draw = () => render(html`<button @click=${() => { n++; draw(); }}>Add to ${n}</button><p>hydrated</p>`, target);
  target.textContent = '';
  draw();
}, c.HYDRATION_MS);
