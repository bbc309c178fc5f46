import { useEffect, useMemo, useRef, useState } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { createPortal } from 'react-dom';
import * as c from './common.js';

function App() {
  const [name, setName] = useState('');
  const [found, setFound] = useState([]);
  const [query, setQuery] = useState('');
  const late = useMemo(() => c.debounce((text) => setFound(c.search(text)), 150), []);
  const [top, setTop] = useState(0);
  const [said, say] = useState('');
  const [open, setOpen] = useState(false);
  const [items, setItems] = useState(['Apple', 'Birch', 'Cedar']);
  const held = useRef(null);
  const [picking, setPicking] = useState(false);
  const [date, setDate] = useState('');
  const [count, setCount] = useState(0);
  const [tags, setTags] = useState([]);
  const [loaded, setLoaded] = useState(10);
  const end = useRef(null);
  const [path, setPath] = useState('/');
  const [agreed, setAgreed] = useState(false);
  useEffect(() => {
    const watch = new IntersectionObserver(([it]) => it.isIntersecting && setLoaded((n) => Math.min(n + 10, 40)), { root: end.current.parentElement });
    watch.observe(end.current);
    return () => watch.disconnect();
  }, []);
  const go = (event, to) => { event.preventDefault(); history.pushState(0, '', '#' + to); setPath(to); };
  return (
    <main>
      <p role="status">{said}</p>
      <label>Name <input value={name} onChange={(e) => setName(e.target.value.toUpperCase())} /></label>
      <p>Hello {name}</p>
      <label><input type="checkbox" checked={agreed} onChange={(e) => setAgreed(e.target.checked)} /> Agree</label>
      <button disabled={!agreed} onClick={() => say('sent')}>Send</button>
      <input type="search" aria-label="City" value={query} onChange={(e) => { setQuery(e.target.value); late(e.target.value); }} />
      <ul aria-label="Cities">{found.map((city) => <li key={city}><button onClick={() => say('city ' + city)}>{city}</button></li>)}</ul>
      <div role="region" aria-label="Rows" className="window" onScroll={(e) => setTop(e.target.scrollTop)}>
        <div style={{ height: c.ROWS * c.ROW_PX, position: 'relative' }}>
          <div role="list" style={{ position: 'absolute', top: c.windowAt(top)[0] * c.ROW_PX }}>
            {c.windowAt(top).map((row, slot) => <div className="row" role="listitem" key={slot}><span>Row {row}</span><button onClick={() => say('picked row ' + row)}>Pick</button></div>)}
          </div>
        </div>
      </div>
      <button onClick={() => setOpen(true)}>Open dialog</button>
      {open && createPortal(<div role="dialog" aria-label="Sure?"><button onClick={() => { setOpen(false); say('confirmed'); }}>Confirm</button></div>, document.body)}
      <ol aria-label="Trees">{items.map((item) => <li key={item} data-item={item}><button className="handle"
        onPointerDown={(e) => { held.current = item; e.target.setPointerCapture(e.pointerId); }}
        onPointerUp={(e) => { const to = c.itemAt(e.clientX, e.clientY); if (to && to !== item) setItems(c.moved(items, item, to)); }}>{item}</button></li>)}</ol>
      <label>Date <input readOnly value={date} /></label>
      <button onClick={() => setPicking(!picking)}>Choose date</button>
      {picking && <div role="group" aria-label="February">{c.DAYS.map((day) => <button key={day} aria-label={day} onClick={() => { setDate(day); setPicking(false); }}>{+day.slice(8)}</button>)}</div>}
      <div contentEditable role="textbox" aria-label="Essay" suppressContentEditableWarning onInput={(e) => setCount(c.words(e.currentTarget.innerText))} />
      <p>{count} words</p>
      <label>Tags <select multiple value={tags} onChange={(e) => setTags([...e.target.selectedOptions].map((it) => it.value))}>{['red', 'green', 'blue'].map((it) => <option key={it}>{it}</option>)}</select></label>
      <p>Tags: {tags.join('+')}</p>
      <label>Attach <input type="file" onChange={(e) => say('file ' + e.target.files[0].name)} /></label>
      <div role="region" aria-label="Feed" className="window">
        {Array.from({ length: loaded }, (_, n) => <p key={n}>Story {n}</p>)}<div ref={end}>…</div>
      </div>
      <nav><a href="#/" onClick={(e) => go(e, '/')}>Start</a> <a href="#/about" onClick={(e) => go(e, '/about')}>About</a></nav>
      {path === '/about' ? <h2>About us</h2> : <h2>Start here</h2>}
    </main>
  );
}
function Late() {
  const [n, setN] = useState(5);
  const [ready, setReady] = useState(false);
  useEffect(() => setReady(true), []);
  return <><button onClick={() => setN(n + 1)}>{`Add to ${n}`}</button>{ready && <p>hydrated</p>}</>;
}
createRoot(document.getElementById('app')).render(<App />);
setTimeout(() => hydrateRoot(document.getElementById('late'), <Late />), c.HYDRATION_MS);
