import { createRoot } from 'react-dom/client';
import { useState } from 'react';
import { Button, Dialog, DialogTitle, Drawer, FormControl, InputLabel, Menu, MenuItem, Select, Snackbar } from '@mui/material';

const App = () => {
  const [at, setAt] = useState(null), [open, setOpen] = useState('');
  const close = () => setOpen('');
  return (
    <main>
      <FormControl style={{ width: 160 }}>
        <InputLabel id="city">City</InputLabel>
        <Select labelId="city" label="City" defaultValue="">
          {['Rome', 'Oslo', 'Lima'].map((value) => <MenuItem key={value} value={value}>{value}</MenuItem>)}
        </Select>
      </FormControl>
      <Button onClick={(event) => setAt(event.currentTarget)}>Menu</Button>
      <Button onClick={() => setOpen('dialog')}>Dialog</Button>
      <Button onClick={() => setOpen('drawer')}>Drawer</Button>
      <Button onClick={() => setOpen('toast')}>Toast</Button>
      <Menu anchorEl={at} open={!!at} onClose={() => setAt(null)}><MenuItem>Copy</MenuItem><MenuItem>Paste</MenuItem></Menu>
      <Dialog open={open == 'dialog'} onClose={close}><DialogTitle>Delete it?</DialogTitle></Dialog>
      <Drawer open={open == 'drawer'} onClose={close}><button>Cheap ones</button></Drawer>
      <Snackbar open={open == 'toast'} message="Saved well" onClose={close} />
    </main>
  );
};
createRoot(document.getElementById('app')).render(<App />);
