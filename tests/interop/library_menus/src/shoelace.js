import '@shoelace-style/shoelace/dist/themes/light.css';
import '@shoelace-style/shoelace/dist/components/alert/alert.js';
import '@shoelace-style/shoelace/dist/components/button/button.js';
import '@shoelace-style/shoelace/dist/components/dialog/dialog.js';
import '@shoelace-style/shoelace/dist/components/drawer/drawer.js';
import '@shoelace-style/shoelace/dist/components/dropdown/dropdown.js';
import '@shoelace-style/shoelace/dist/components/menu/menu.js';
import '@shoelace-style/shoelace/dist/components/menu-item/menu-item.js';
import '@shoelace-style/shoelace/dist/components/option/option.js';
import '@shoelace-style/shoelace/dist/components/select/select.js';

document.getElementById('app').innerHTML = `<main>
  <sl-select label="City"><sl-option value="1">Rome</sl-option><sl-option value="2">Oslo</sl-option><sl-option value="3">Lima</sl-option></sl-select>
  <sl-dropdown><sl-button slot="trigger">Menu</sl-button><sl-menu><sl-menu-item>Copy</sl-menu-item><sl-menu-item>Paste</sl-menu-item></sl-menu></sl-dropdown>
  <sl-button data-opens="sl-dialog">Dialog</sl-button><sl-button data-opens="sl-drawer">Drawer</sl-button><sl-button data-opens="sl-alert">Toast</sl-button>
  <sl-dialog label="Delete it?">For ever</sl-dialog><sl-drawer label="Filters"><button>Cheap ones</button></sl-drawer><sl-alert>Saved well</sl-alert>
</main>`;
for (const button of document.querySelectorAll('[data-opens]')) button.onclick = () => document.querySelector(button.dataset.opens).show();
