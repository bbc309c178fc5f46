import 'bootstrap/dist/css/bootstrap.css';
import * as bootstrap from 'bootstrap';

document.getElementById('app').innerHTML = `<main class="container">
  <button class="btn btn-primary" id="Save">Save</button>
  <div class="form-check"><input class="form-check-input" type="checkbox" id="Agree"><label class="form-check-label" for="Agree">Agree</label></div>
  <div class="form-check form-switch"><input class="form-check-input" type="checkbox" role="switch" id="Wifi"><label for="Wifi">Wifi</label></div>
  <div class="btn-group"><input type="radio" class="btn-check" name="colour" id="red"><label class="btn btn-outline-primary" for="red">Red</label><input type="radio" class="btn-check" name="colour" id="blue"><label class="btn btn-outline-primary" for="blue">Blue</label></div>
  <div class="form-floating"><input class="form-control" id="Name" placeholder="Name"><label for="Name">Name</label></div>
  <div class="dropdown"><button class="btn dropdown-toggle" data-bs-toggle="dropdown">City</button><ul class="dropdown-menu"><li><a class="dropdown-item" href="#">Rome</a></li><li><a class="dropdown-item" href="#">Oslo</a></li></ul></div>
  <label for="Volume">Volume</label><input type="range" class="form-range" id="Volume" value="20">
  <ul class="nav nav-tabs" role="tablist"><li class="nav-item"><button class="nav-link active" data-bs-toggle="tab" data-bs-target="#first" role="tab">First</button></li><li class="nav-item"><button class="nav-link" data-bs-toggle="tab" data-bs-target="#second" role="tab">Second</button></li></ul>
  <div class="tab-content"><div class="tab-pane active" id="first">One</div><div class="tab-pane" id="second">Two</div></div>
</main>`;
document.getElementById('Save').onclick = () => (said.Save = true);
for (const name of ['Agree', 'Wifi']) document.getElementById(name).onchange = (event) => (said[name] = event.target.checked);
document.getElementById('blue').onchange = () => (said.Colour = 'blue');
for (const name of ['Name', 'Volume']) document.getElementById(name).oninput = (event) => (said[name] = event.target.value);
for (const item of document.querySelectorAll('.dropdown-item')) item.onclick = () => (said.City = item.textContent);
document.addEventListener('shown.bs.tab', (event) => (said.Tab = event.target.textContent.toLowerCase()));
void bootstrap;
