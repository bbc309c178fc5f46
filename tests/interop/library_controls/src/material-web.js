import '@material/web/all.js';

document.getElementById('app').innerHTML = `<main>
  <md-filled-button id="Save">Save</md-filled-button>
  <label><md-checkbox id="Agree" touch-target="wrapper"></md-checkbox>Agree</label><label>Wifi<md-switch id="Wifi"></md-switch></label>
  <div role="radiogroup" aria-label="Colour"><md-radio id="red" name="colour" value="red"></md-radio><label for="red">Red</label><md-radio id="blue" name="colour" value="blue" aria-label="Blue"></md-radio><label for="blue">Blue</label></div>
  <md-outlined-text-field id="Name" label="Name"></md-outlined-text-field>
  <md-outlined-select id="City" label="City"><md-select-option value="Rome"><div slot="headline">Rome</div></md-select-option><md-select-option value="Oslo"><div slot="headline">Oslo</div></md-select-option></md-outlined-select>
  <md-slider id="Volume" aria-label="Volume" value="20" labeled></md-slider>
  <md-tabs id="Tab"><md-primary-tab>First</md-primary-tab><md-primary-tab>Second</md-primary-tab></md-tabs>
</main>`;
document.getElementById('Save').onclick = () => (said.Save = true);
document.getElementById('Agree').addEventListener('change', (event) => (said.Agree = event.target.checked));
document.getElementById('Wifi').addEventListener('change', (event) => (said.Wifi = event.target.selected));
document.getElementById('blue').addEventListener('change', (event) => event.target.checked && (said.Colour = 'blue'));
for (const name of ['Name', 'Volume']) document.getElementById(name).addEventListener('input', (event) => (said[name] = event.target.value));
document.getElementById('City').addEventListener('change', (event) => (said.City = event.target.value));
document.getElementById('Tab').addEventListener('change', (event) => (said.Tab = event.target.activeTabIndex ? 'second' : 'first'));
