import { createRoot } from 'react-dom/client';
import { useState } from 'react';
import { Button, Drawer, Dropdown, Modal, Select, message } from 'antd';

const App = () => {
  const [modal, setModal] = useState(false), [drawer, setDrawer] = useState(false);
  return (
    <main>
      <Select aria-label="City" style={{ width: 160 }} options={['Rome', 'Oslo', 'Lima'].map((value) => ({ value }))} />
      <Dropdown trigger={['click']} menu={{ items: [{ key: 1, label: 'Copy' }, { key: 2, label: 'Paste' }] }}>
        <Button>Menu</Button>
      </Dropdown>
      <Button onClick={() => setModal(true)}>Dialog</Button>
      <Button onClick={() => setDrawer(true)}>Drawer</Button>
      <Button onClick={() => message.info('Saved well')}>Toast</Button>
      <Modal open={modal} title="Delete it?" onCancel={() => setModal(false)}>For ever</Modal>
      <Drawer open={drawer} title="Filters" onClose={() => setDrawer(false)}><button>Cheap ones</button></Drawer>
    </main>
  );
};
createRoot(document.getElementById('app')).render(<App />);
