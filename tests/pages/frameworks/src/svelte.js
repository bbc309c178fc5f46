import { mount } from 'svelte';
import App from './App.svelte';
import Late from './Late.svelte';
import { HYDRATION_MS } from './common.js';

mount(App, { target: document.getElementById('app') });
// Without server code there are no hydration marks: the static button is replaced, as an island does it.
setTimeout(() => {
  const target = document.getElementById('late');
  target.textContent = '';
  mount(Late, { target });
}, HYDRATION_MS);
