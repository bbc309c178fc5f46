import { createRoot } from 'react-dom/client';
import { useState } from 'react';
import { Dialog as HDialog, DialogTitle, Listbox, ListboxButton, ListboxOption, ListboxOptions } from '@headlessui/react';
import * as Dropdown from '@radix-ui/react-dropdown-menu';
import * as RDialog from '@radix-ui/react-dialog';

const style = `
  .fade { transition: opacity .3s } .fade[data-closed] { opacity: 0 }
  [data-state=open].slide { animation: slide .3s } @keyframes slide { from { opacity: 0; transform: translateY(-20px) } }
`;
const App = () => {
  const [city, setCity] = useState('None'), [open, setOpen] = useState(false);
  return (
    <main>
      <style>{style}</style>
      <Listbox value={city} onChange={setCity}>
        <ListboxButton aria-label="City">{city}</ListboxButton>
        <ListboxOptions transition className="fade">{['Rome', 'Oslo', 'Lima'].map((it) => <ListboxOption key={it} value={it}>{it}</ListboxOption>)}</ListboxOptions>
      </Listbox>
      <Dropdown.Root>
        <Dropdown.Trigger>Menu</Dropdown.Trigger>
        <Dropdown.Portal><Dropdown.Content className="slide"><Dropdown.Item>Copy</Dropdown.Item><Dropdown.Item>Paste</Dropdown.Item></Dropdown.Content></Dropdown.Portal>
      </Dropdown.Root>
      <button onClick={() => setOpen(true)}>Dialog</button>
      <HDialog transition className="fade" open={open} onClose={() => setOpen(false)}><DialogTitle>Delete it?</DialogTitle><button>Yes</button></HDialog>
      <RDialog.Root>
        <RDialog.Trigger>Drawer</RDialog.Trigger>
        <RDialog.Portal><RDialog.Content className="slide" aria-describedby={undefined}><RDialog.Title>Filters</RDialog.Title><button>Cheap ones</button></RDialog.Content></RDialog.Portal>
      </RDialog.Root>
    </main>
  );
};
createRoot(document.getElementById('app')).render(<App />);
