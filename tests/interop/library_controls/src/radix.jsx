import { createRoot } from 'react-dom/client';
import * as Checkbox from '@radix-ui/react-checkbox';
import * as Radio from '@radix-ui/react-radio-group';
import * as Select from '@radix-ui/react-select';
import * as Slider from '@radix-ui/react-slider';
import * as Switch from '@radix-ui/react-switch';
import * as Tabs from '@radix-ui/react-tabs';

const box = { width: 24, height: 24 };
const tell = (name) => (value) => (said[name] = value);
createRoot(document.getElementById('app')).render(
  <main>
    <Checkbox.Root id="agree" style={box} onCheckedChange={tell('Agree')} /><label htmlFor="agree">Agree</label>
    <Switch.Root id="wifi" style={box} onCheckedChange={tell('Wifi')} /><label htmlFor="wifi">Wifi</label>
    <Radio.Root aria-label="Colour" onValueChange={tell('Colour')}><Radio.Item value="red" aria-label="Red" style={box} /><Radio.Item value="blue" aria-label="Blue" style={box} /></Radio.Root>
    <Select.Root defaultValue="Rome" onValueChange={tell('City')}><Select.Trigger aria-label="City"><Select.Value /></Select.Trigger>
      <Select.Portal><Select.Content position="popper"><Select.Viewport><Select.Item value="Rome"><Select.ItemText>Rome</Select.ItemText></Select.Item><Select.Item value="Oslo"><Select.ItemText>Oslo</Select.ItemText></Select.Item></Select.Viewport></Select.Content></Select.Portal></Select.Root>
    <Slider.Root defaultValue={[20]} onValueChange={([value]) => (said.Volume = value)} style={{ position: 'relative', display: 'flex', width: 200, height: 24 }}><Slider.Track style={{ flex: 1, height: 4 }}><Slider.Range /></Slider.Track><Slider.Thumb aria-label="Volume" style={{ ...box, display: 'block', background: 'gray' }} /></Slider.Root>
    <Tabs.Root defaultValue="first" onValueChange={tell('Tab')}><Tabs.List><Tabs.Trigger value="first">First</Tabs.Trigger><Tabs.Trigger value="second">Second</Tabs.Trigger></Tabs.List></Tabs.Root>
  </main>,
);
