import { createApp, reactive, watch } from 'vue';
import PrimeVue from 'primevue/config';
import Aura from '@primeuix/themes/aura';
import Button from 'primevue/button';
import Checkbox from 'primevue/checkbox';
import InputText from 'primevue/inputtext';
import RadioButton from 'primevue/radiobutton';
import Select from 'primevue/select';
import Slider from 'primevue/slider';
import Tab from 'primevue/tab';
import TabList from 'primevue/tablist';
import Tabs from 'primevue/tabs';
import ToggleSwitch from 'primevue/toggleswitch';

createApp({
  components: { Button, Checkbox, InputText, RadioButton, Select, Slider, Tab, TabList, Tabs, ToggleSwitch },
  setup() {
    const it = reactive({ Agree: false, Wifi: false, Colour: 'red', Name: '', City: 'Rome', Volume: 20, Tab: 'first' });
    for (const name in it) watch(() => it[name], (value) => (said[name] = value));
    return { it, save: () => (said.Save = true) };
  },
  template: `<main>
    <Button label="Save" @click="save" />
    <Checkbox v-model="it.Agree" binary inputId="agree" /><label for="agree">Agree</label>
    <ToggleSwitch v-model="it.Wifi" aria-label="Wifi" inputId="wifi" /><label for="wifi">Wifi</label>
    <RadioButton v-model="it.Colour" inputId="red" value="red" /><label for="red">Red</label><RadioButton v-model="it.Colour" inputId="blue" value="blue" /><label for="blue">Blue</label>
    <InputText v-model="it.Name" aria-label="Name" />
    <Select v-model="it.City" :options="['Rome', 'Oslo']" aria-label="City" />
    <div style="padding: 1em"><Slider v-model="it.Volume" aria-label="Volume" /></div>
    <Tabs v-model:value="it.Tab"><TabList><Tab value="first">First</Tab><Tab value="second">Second</Tab></TabList></Tabs>
  </main>`,
}).use(PrimeVue, { theme: { preset: Aura } }).mount('#app');
