import '@ionic/core/css/ionic.bundle.css';
import { initialize } from '@ionic/core/components';
import { defineCustomElement as app } from '@ionic/core/components/ion-app.js';
import { defineCustomElement as button } from '@ionic/core/components/ion-button.js';
import { defineCustomElement as checkbox } from '@ionic/core/components/ion-checkbox.js';
import { defineCustomElement as content } from '@ionic/core/components/ion-content.js';
import { defineCustomElement as input } from '@ionic/core/components/ion-input.js';
import { defineCustomElement as item } from '@ionic/core/components/ion-item.js';
import { defineCustomElement as list } from '@ionic/core/components/ion-list.js';
import { defineCustomElement as label } from '@ionic/core/components/ion-label.js';
import { defineCustomElement as radio } from '@ionic/core/components/ion-radio.js';
import { defineCustomElement as radioGroup } from '@ionic/core/components/ion-radio-group.js';
import { defineCustomElement as range } from '@ionic/core/components/ion-range.js';
import { defineCustomElement as segment } from '@ionic/core/components/ion-segment.js';
import { defineCustomElement as segmentButton } from '@ionic/core/components/ion-segment-button.js';
import { defineCustomElement as select } from '@ionic/core/components/ion-select.js';
import { defineCustomElement as option } from '@ionic/core/components/ion-select-option.js';
import { defineCustomElement as toggle } from '@ionic/core/components/ion-toggle.js';

initialize({ animated: false });
for (const define of [app, button, checkbox, content, input, item, label, list, radio, radioGroup, range, segment, segmentButton, select, option, toggle]) define();
document.getElementById('app').innerHTML = `<ion-app><ion-content>
  <ion-button id="Save">Save</ion-button>
  <ion-list><ion-item><ion-checkbox id="Agree">Agree</ion-checkbox></ion-item><ion-item><ion-toggle id="Wifi">Wifi</ion-toggle></ion-item>
  <ion-radio-group id="Colour"><ion-item><ion-radio value="red">Red</ion-radio></ion-item><ion-item><ion-radio value="blue">Blue</ion-radio></ion-item></ion-radio-group>
  <ion-item><ion-input id="Name" label="Name"></ion-input></ion-item>
  <ion-item><ion-select id="City" label="City" interface="popover"><ion-select-option value="Rome">Rome</ion-select-option><ion-select-option value="Oslo">Oslo</ion-select-option></ion-select></ion-item>
  <ion-item><ion-range id="Volume" label="Volume" value="20"></ion-range></ion-item></ion-list>
  <ion-segment id="Tab" value="first"><ion-segment-button value="first"><ion-label>First</ion-label></ion-segment-button><ion-segment-button value="second"><ion-label>Second</ion-label></ion-segment-button></ion-segment>
</ion-content></ion-app>`;
document.getElementById('Save').onclick = () => (said.Save = true);
for (const name of ['Agree', 'Wifi']) document.getElementById(name).addEventListener('ionChange', (event) => (said[name] = event.detail.checked));
for (const name of ['Colour', 'City', 'Volume', 'Tab']) document.getElementById(name).addEventListener('ionChange', (event) => (said[name] = event.detail.value));
document.getElementById('Name').addEventListener('ionInput', (event) => (said.Name = event.detail.value));
