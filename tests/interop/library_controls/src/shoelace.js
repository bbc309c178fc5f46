import '@shoelace-style/shoelace/dist/themes/light.css';
import '@shoelace-style/shoelace/dist/components/button/button.js';
import '@shoelace-style/shoelace/dist/components/checkbox/checkbox.js';
import '@shoelace-style/shoelace/dist/components/input/input.js';
import '@shoelace-style/shoelace/dist/components/option/option.js';
import '@shoelace-style/shoelace/dist/components/radio/radio.js';
import '@shoelace-style/shoelace/dist/components/radio-group/radio-group.js';
import '@shoelace-style/shoelace/dist/components/range/range.js';
import '@shoelace-style/shoelace/dist/components/select/select.js';
import '@shoelace-style/shoelace/dist/components/switch/switch.js';
import '@shoelace-style/shoelace/dist/components/tab/tab.js';
import '@shoelace-style/shoelace/dist/components/tab-group/tab-group.js';
import '@shoelace-style/shoelace/dist/components/tab-panel/tab-panel.js';

document.getElementById('app').innerHTML = `<main>
  <sl-button id="Save">Save</sl-button><sl-checkbox id="Agree">Agree</sl-checkbox><sl-switch id="Wifi">Wifi</sl-switch>
  <sl-radio-group id="Colour" label="Colour"><sl-radio value="red">Red</sl-radio><sl-radio value="blue">Blue</sl-radio></sl-radio-group>
  <sl-input id="Name" label="Name"></sl-input>
  <sl-select id="City" label="City"><sl-option value="Rome">Rome</sl-option><sl-option value="Oslo">Oslo</sl-option></sl-select>
  <sl-range id="Volume" label="Volume" value="20"></sl-range>
  <sl-tab-group id="Tab"><sl-tab slot="nav" panel="first">First</sl-tab><sl-tab slot="nav" panel="second">Second</sl-tab><sl-tab-panel name="first">One</sl-tab-panel><sl-tab-panel name="second">Two</sl-tab-panel></sl-tab-group>
</main>`;
document.getElementById('Save').onclick = () => (said.Save = true);
for (const name of ['Agree', 'Wifi']) document.getElementById(name).addEventListener('sl-change', (event) => (said[name] = event.target.checked));
for (const name of ['Colour', 'City', 'Volume', 'Name']) document.getElementById(name).addEventListener('sl-input', (event) => (said[name] = event.target.value));
document.getElementById('Tab').addEventListener('sl-tab-show', (event) => (said.Tab = event.detail.name));
