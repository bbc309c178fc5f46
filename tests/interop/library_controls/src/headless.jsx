import { createRoot } from 'react-dom/client';
import { useState } from 'react';
import { Checkbox, Field, Label, Listbox, ListboxButton, ListboxOption, ListboxOptions, Radio, RadioGroup, Switch, Tab, TabGroup, TabList } from '@headlessui/react';

const box = { width: 24, height: 24, display: 'inline-block', background: 'gray' };
const App = () => {
  const [agree, setAgree] = useState(false), [wifi, setWifi] = useState(false), [colour, setColour] = useState('red'), [city, setCity] = useState('Rome');
  return (
    <main>
      <Field><Checkbox checked={agree} onChange={(it) => setAgree((said.Agree = it))} style={box} /><Label>Agree</Label></Field>
      <Field><Switch checked={wifi} onChange={(it) => setWifi((said.Wifi = it))} style={box} /><Label>Wifi</Label></Field>
      <RadioGroup value={colour} onChange={(it) => setColour((said.Colour = it))} aria-label="Colour"><Field><Radio value="red" style={box} /><Label>Red</Label></Field><Field><Radio value="blue" style={box} /><Label>Blue</Label></Field></RadioGroup>
      <Listbox value={city} onChange={(it) => setCity((said.City = it))}><ListboxButton aria-label="City">{city}</ListboxButton><ListboxOptions><ListboxOption value="Rome">Rome</ListboxOption><ListboxOption value="Oslo">Oslo</ListboxOption></ListboxOptions></Listbox>
      <TabGroup onChange={(at) => (said.Tab = at ? 'second' : 'first')}><TabList><Tab>First</Tab><Tab>Second</Tab></TabList></TabGroup>
    </main>
  );
};
createRoot(document.getElementById('app')).render(<App />);
