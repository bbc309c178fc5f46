import '@ui5/webcomponents/dist/Button.js';
import '@ui5/webcomponents/dist/CheckBox.js';
import '@ui5/webcomponents/dist/Input.js';
import '@ui5/webcomponents/dist/Label.js';
import '@ui5/webcomponents/dist/Option.js';
import '@ui5/webcomponents/dist/RadioButton.js';
import '@ui5/webcomponents/dist/Select.js';
import '@ui5/webcomponents/dist/Slider.js';
import '@ui5/webcomponents/dist/Switch.js';
import '@ui5/webcomponents/dist/Tab.js';
import '@ui5/webcomponents/dist/TabContainer.js';

document.getElementById('app').innerHTML = `<main>
  <ui5-button id="Save">Save</ui5-button><ui5-checkbox id="Agree" text="Agree"></ui5-checkbox><ui5-switch id="Wifi" accessible-name="Wifi"></ui5-switch>
  <ui5-radio-button name="colour" text="Red"></ui5-radio-button><ui5-radio-button id="blue" name="colour" text="Blue"></ui5-radio-button>
  <ui5-input id="Name" accessible-name="Name"></ui5-input>
  <ui5-select id="City" accessible-name="City"><ui5-option value="Rome">Rome</ui5-option><ui5-option value="Oslo">Oslo</ui5-option></ui5-select>
  <ui5-slider id="Volume" accessible-name="Volume" value="20"></ui5-slider>
  <ui5-tabcontainer id="Tab"><ui5-tab text="First" selected>One</ui5-tab><ui5-tab text="Second">Two</ui5-tab></ui5-tabcontainer>
</main>`;
document.getElementById('Save').addEventListener('click', () => (said.Save = true));
for (const name of ['Agree', 'Wifi']) document.getElementById(name).addEventListener('change', (event) => (said[name] = event.target.checked));
document.getElementById('blue').addEventListener('change', (event) => event.target.checked && (said.Colour = 'blue'));
for (const name of ['Name', 'Volume']) document.getElementById(name).addEventListener('input', (event) => (said[name] = event.target.value));
document.getElementById('Volume').addEventListener('change', (event) => (said.Volume = event.target.value));
document.getElementById('City').addEventListener('change', (event) => (said.City = event.detail.selectedOption.textContent));
document.getElementById('Tab').addEventListener('tab-select', (event) => (said.Tab = event.detail.tab.text.toLowerCase()));
