import 'vuetify/dist/vuetify.css';
import { createApp, reactive, watch } from 'vue';
import { createVuetify } from 'vuetify';
import * as components from 'vuetify/components';

createApp({
  setup() {
    const it = reactive({ Agree: false, Wifi: false, Colour: 'red', Name: '', City: 'Rome', Volume: 20, Tab: 'first' });
    for (const name in it) watch(() => it[name], (value) => (said[name] = value));
    return { it, save: () => (said.Save = true) };
  },
  template: `<v-app><v-main>
    <v-btn @click="save">Save</v-btn><v-checkbox v-model="it.Agree" label="Agree" /><v-switch v-model="it.Wifi" label="Wifi" />
    <v-radio-group v-model="it.Colour"><v-radio label="Red" value="red" /><v-radio label="Blue" value="blue" /></v-radio-group>
    <v-text-field v-model="it.Name" label="Name" /><v-select v-model="it.City" :items="['Rome', 'Oslo']" label="City" />
    <v-slider v-model="it.Volume" label="Volume" />
    <v-tabs v-model="it.Tab"><v-tab value="first">First</v-tab><v-tab value="second">Second</v-tab></v-tabs>
  </v-main></v-app>`,
}).use(createVuetify({ components })).mount('#app');
