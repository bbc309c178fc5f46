'use strict';

class DemoRating extends HTMLElement {
  connectedCallback() {
    const root = this.attachShadow({ mode: 'open' });
    root.innerHTML = `
      <style>
        :host { display: block; padding: 1rem; border: 1px solid #e3e6ee; border-radius: 14px; background: #fff; }
        button { font: inherit; width: 46px; height: 46px; border: 0; border-radius: 10px; background: #e9ebff; color: #4453d6; }
        button[aria-pressed=true] { background: #4453d6; color: #fff; }
        ::slotted([slot=title]) { font-weight: 700; }
        p { margin: .4rem 0; color: #6a7386; }
      </style>
      <slot name="title"></slot>
      <p><slot>Choose one.</slot></p>
      <div role="group" aria-label="Stars"></div>`;
    for (let stars = 1; stars <= 5; stars++) {
      const button = document.createElement('button');
      button.textContent = stars;
      button.setAttribute('aria-label', stars === 1 ? '1 star' : `${stars} stars`);
      button.addEventListener('click', () => this.choose(stars));
      root.querySelector('div').append(button, ' ');
    }
    this.choose(Number(this.getAttribute('value')));
  }

  choose(stars) {
    this.shadowRoot.querySelectorAll('button').forEach((button, index) =>
      button.setAttribute('aria-pressed', String(index + 1 === stars)));
  }
}

class DemoPanel extends HTMLElement {
  connectedCallback() {
    this.attachShadow({ mode: 'open' }).innerHTML = `
      <style>
        button { font: inherit; min-height: 46px; padding: .5rem 1rem; border: 0; border-radius: 10px; background: #4453d6; color: #fff; }
        div { margin-top: .75rem; }
      </style>
      <button aria-expanded="false">More questions</button>
      <div hidden><slot></slot></div>`;
    const button = this.shadowRoot.querySelector('button');
    const content = this.shadowRoot.querySelector('div');
    button.addEventListener('click', () => {
      content.hidden = !content.hidden;
      button.setAttribute('aria-expanded', String(!content.hidden));
    });
  }
}

customElements.define('demo-rating', DemoRating);
customElements.define('demo-panel', DemoPanel);
