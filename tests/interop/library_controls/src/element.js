import { createApp, reactive, watch } from 'vue';
import ElementPlus from 'element-plus';
import 'element-plus/dist/index.css';

createApp({
  setup() {
    const it = reactive({ Agree: false, Wifi: false, Colour: 'red', Name: '', City: 'Rome', Volume: 20, Tab: 'first', Day: new Date(2026, 2, 1) });
    for (const name in it) watch(() => it[name], (value) => (said[name] = name == 'Day' ? '2026-0' + (value.getMonth() + 1) + '-' + value.getDate() : value));
    return { it, save: () => (said.Save = true) };
  },
  template: `<main>
    <el-button @click="save">Save</el-button><el-checkbox v-model="it.Agree" label="Agree" /><el-switch v-model="it.Wifi" aria-label="Wifi" />
    <el-radio-group v-model="it.Colour"><el-radio value="red">Red</el-radio><el-radio value="blue">Blue</el-radio></el-radio-group>
    <el-input v-model="it.Name" aria-label="Name" />
    <el-select v-model="it.City" aria-label="City" style="width: 160px"><el-option v-for="city in ['Rome', 'Oslo']" :key="city" :label="city" :value="city" /></el-select>
    <div style="padding: 1em"><el-slider v-model="it.Volume" aria-label="Volume" /></div>
    <el-tabs v-model="it.Tab"><el-tab-pane label="First" name="first">One</el-tab-pane><el-tab-pane label="Second" name="second">Two</el-tab-pane></el-tabs>
    <el-calendar v-model="it.Day" />
  </main>`,
}).use(ElementPlus).mount('#app');
