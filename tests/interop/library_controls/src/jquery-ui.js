import 'jquery-ui/themes/base/all.css';
import '../jquery-global.js';
import 'jquery-ui/dist/jquery-ui.js';

const { $ } = window;
$('#app').html(`<main>
  <a id="Save">Save</a>
  <label for="Agree">Agree</label><input type="checkbox" id="Agree">
  <label for="red">Red</label><input type="radio" name="colour" id="red"><label for="blue">Blue</label><input type="radio" name="colour" id="blue">
  <label for="Name">Name</label> <input id="Name">
  <label for="City">City</label> <select id="City"><option>Rome</option><option>Oslo</option></select>
  <div id="Volume" style="margin: 1em"></div>
  <div id="Tab"><ul><li><a href="#first">First</a></li><li><a href="#second">Second</a></li></ul><div id="first">One</div><div id="second">Two</div></div>
  <div id="Day"></div>
</main>`);
$('#Save').button().on('click', () => (said.Save = true));
$('#Agree').checkboxradio().on('change', (event) => (said.Agree = event.target.checked));
$('[name=colour]').checkboxradio().on('change', (event) => (said.Colour = event.target.id));
$('#Name').on('input', (event) => (said.Name = event.target.value));
$('#City').selectmenu({ change: (event, { item }) => (said.City = item.label) });
$('#Volume').slider({ value: 20, change: (event, { value }) => (said.Volume = value) });
$('#Tab').tabs({ activate: (event, { newPanel }) => (said.Tab = newPanel[0].id) });
$('#Day').datepicker({ defaultDate: '03/01/2026', dateFormat: 'yy-mm-dd', onSelect: (date) => (said.Day = date) });
