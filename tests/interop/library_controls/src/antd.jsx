import { createRoot } from 'react-dom/client';
import { Button, Checkbox, Input, Radio, Select, Slider, Switch, Tabs } from 'antd';

const tell = (name) => (value) => (said[name] = value);
createRoot(document.getElementById('app')).render(
  <main>
    <Button onClick={() => (said.Save = true)}>Save</Button>
    <Checkbox onChange={(event) => (said.Agree = event.target.checked)}>Agree</Checkbox>
    <Switch aria-label="Wifi" onChange={tell('Wifi')} />
    <Radio.Group onChange={(event) => (said.Colour = event.target.value)}><Radio value="red">Red</Radio><Radio value="blue">Blue</Radio></Radio.Group>
    <Input aria-label="Name" onChange={(event) => (said.Name = event.target.value)} />
    <Select aria-label="City" defaultValue="Rome" style={{ width: 160 }} onChange={tell('City')} options={['Rome', 'Oslo'].map((value) => ({ value }))} />
    <Slider defaultValue={20} ariaLabelForHandle="Volume" onChange={tell('Volume')} />
    <Tabs onChange={tell('Tab')} items={[{ key: 'first', label: 'First', children: 'One' }, { key: 'second', label: 'Second', children: 'Two' }]} />
  </main>,
);
