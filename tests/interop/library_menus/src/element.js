import { createApp, ref } from 'vue';
import ElementPlus, { ElMessage } from 'element-plus';
import 'element-plus/dist/index.css';

createApp({
  setup: () => ({ city: ref(''), dialog: ref(false), drawer: ref(false), toast: () => ElMessage('Saved well') }),
  template: `<main>
    <el-select v-model="city" aria-label="City" style="width: 160px"><el-option v-for="it in ['Rome', 'Oslo', 'Lima']" :key="it" :label="it" :value="it" /></el-select>
    <el-dropdown trigger="click"><el-button>Menu</el-button><template #dropdown><el-dropdown-menu><el-dropdown-item>Copy</el-dropdown-item><el-dropdown-item>Paste</el-dropdown-item></el-dropdown-menu></template></el-dropdown>
    <el-button @click="dialog = true">Dialog</el-button><el-button @click="drawer = true">Drawer</el-button><el-button @click="toast">Toast</el-button>
    <el-dialog v-model="dialog" title="Delete it?" width="300">For ever</el-dialog>
    <el-drawer v-model="drawer" title="Filters" size="300"><button>Cheap ones</button></el-drawer>
  </main>`,
}).use(ElementPlus).mount('#app');
