import { createRoot } from 'react-dom/client';
import { useState } from 'react';
import { Button, Checkbox, FormControl, FormControlLabel, InputLabel, MenuItem, Radio, RadioGroup, Select, Slider, Switch, Tab, Tabs, TextField } from '@mui/material';

const App = () => {
  const [tab, setTab] = useState('first'), [volume, setVolume] = useState(20);
  return (
    <main>
      <Button onClick={() => (said.Save = true)}>Save</Button>
      <FormControlLabel label="Agree" control={<Checkbox onChange={(event) => (said.Agree = event.target.checked)} />} />
      <FormControlLabel label="Wifi" control={<Switch onChange={(event) => (said.Wifi = event.target.checked)} />} />
      <RadioGroup onChange={(event) => (said.Colour = event.target.value)}><FormControlLabel value="red" label="Red" control={<Radio />} /><FormControlLabel value="blue" label="Blue" control={<Radio />} /></RadioGroup>
      <TextField label="Name" onChange={(event) => (said.Name = event.target.value)} />
      <FormControl><InputLabel id="city">City</InputLabel><Select labelId="city" label="City" defaultValue="Rome" onChange={(event) => (said.City = event.target.value)}><MenuItem value="Rome">Rome</MenuItem><MenuItem value="Oslo">Oslo</MenuItem></Select></FormControl>
      <Slider aria-label="Volume" value={volume} onChange={(event, value) => setVolume((said.Volume = value))} />
      <Tabs value={tab} onChange={(event, value) => setTab((said.Tab = value))}><Tab value="first" label="First" /><Tab value="second" label="Second" /></Tabs>
    </main>
  );
};
createRoot(document.getElementById('app')).render(<App />);
