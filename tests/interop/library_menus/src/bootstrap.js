import { Toast } from 'bootstrap';
import 'bootstrap/dist/css/bootstrap.css';

document.getElementById('app').innerHTML = `<main>
  <div class="dropdown"><button class="btn" data-bs-toggle="dropdown">Menu</button><ul class="dropdown-menu"><li><button class="dropdown-item">Copy</button></li><li><button class="dropdown-item">Paste</button></li></ul></div>
  <button class="btn" data-bs-toggle="modal" data-bs-target="#modal">Dialog</button>
  <button class="btn" data-bs-toggle="offcanvas" data-bs-target="#drawer">Drawer</button>
  <button class="btn" id="toaster">Toast</button>
  <button class="btn" data-bs-toggle="collapse" data-bs-target="#more">City</button>
  <div class="collapse" id="more"><button>Rome</button><button>Oslo</button><button>Lima</button></div>
  <div class="modal fade" id="modal" tabindex="-1"><div class="modal-dialog"><div class="modal-content"><h2>Delete it?</h2></div></div></div>
  <div class="offcanvas offcanvas-start" id="drawer" tabindex="-1"><button>Cheap ones</button></div>
  <div class="toast" id="toast" role="status">Saved well</div>
</main>`;
document.getElementById('toaster').onclick = () => Toast.getOrCreateInstance(document.getElementById('toast')).show();
