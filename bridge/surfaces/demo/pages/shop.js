'use strict';

const PRODUCTS = [
  { id: 'r1', name: 'Gold ring', kind: 'ring', metal: 'gold', price: 240, left: 3 },
  { id: 'e1', name: 'Gold earrings', kind: 'earrings', metal: 'gold', price: 180, left: 8 },
  { id: 'n1', name: 'Silver necklace', kind: 'necklace', metal: 'silver', price: 95, left: 12 },
  { id: 'r2', name: 'Silver ring', kind: 'ring', metal: 'silver', price: 60, left: 0 },
  { id: 'b1', name: 'Gold bracelet', kind: 'bracelet', metal: 'gold', price: 310, left: 2 },
  { id: 'e2', name: 'Silver earrings', kind: 'earrings', metal: 'silver', price: 45, left: 20 },
  { id: 'n2', name: 'Gold necklace', kind: 'necklace', metal: 'gold', price: 420, left: 1 },
  { id: 'b2', name: 'Silver bracelet', kind: 'bracelet', metal: 'silver', price: 75, left: 5 },
];
const SHAPES = {
  ring: '<circle cx="60" cy="48" r="20" fill="none" stroke-width="6"/><path d="M52 22h16l-8 10z" stroke="none"/>',
  earrings: '<path d="M44 20v14M76 20v14" fill="none" stroke-width="3"/><circle cx="44" cy="46" r="10"/><circle cx="76" cy="46" r="10"/>',
  necklace: '<path d="M28 14c4 34 60 34 64 0" fill="none" stroke-width="4"/><path d="M60 42l9 12-9 12-9-12z" stroke="none"/>',
  bracelet: '<ellipse cx="60" cy="42" rx="34" ry="18" fill="none" stroke-width="7"/><circle cx="60" cy="60" r="6" stroke="none"/>',
};
const COLOURS = { gold: '#c8962e', silver: '#8d97a8' };

const cart = new Map();
const form = document.getElementById('search');
const list = document.getElementById('products');

function picture(product) {
  const colour = COLOURS[product.metal];
  return `<svg viewBox="0 0 120 84" aria-hidden="true" fill="${colour}" stroke="${colour}">${SHAPES[product.kind]}</svg>`;
}

const tiles = PRODUCTS.map((product) => {
  const tile = document.createElement('li');
  tile.className = 'card';
  tile.innerHTML = `${picture(product)}<h3></h3><span><span class="price"></span> <span class="muted"></span></span><button>Add to cart</button>`;
  tile.querySelector('h3').textContent = product.name;
  tile.querySelector('.price').textContent = `€${product.price}`;
  tile.querySelector('button').addEventListener('click', () => add(product));
  list.append(tile);
  return tile;
});

function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function showProducts() {
  const wanted = new FormData(form);
  const words = wanted.get('q').toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  PRODUCTS.forEach((product, index) => {
    const tile = tiles[index];
    tile.hidden = !(words.every((word) => product.name.toLowerCase().includes(word)) &&
      (!wanted.get('metal') || product.metal === wanted.get('metal')) &&
      (!wanted.get('stock') || product.left > 0));
    say(tile.querySelector('.muted'), product.left ? `${product.left} left` : 'sold out');
    tile.querySelector('button').disabled = product.left === 0;
    count += tile.hidden ? 0 : 1;
  });
  say(document.getElementById('count'), count === 1 ? '1 product' : `${count} products`);
}

function add(product) {
  cart.set(product, (cart.get(product) || 0) + 1);
  product.left -= 1;
  showProducts();
  showCart();
}

function showCart() {
  const lines = document.getElementById('cart-lines');
  let pieces = 0;
  let total = 0;
  lines.textContent = '';
  for (const [product, count] of cart) {
    pieces += count;
    total += count * product.price;
    const line = document.createElement('li');
    line.textContent = `${count} × ${product.name}, €${count * product.price}`;
    lines.append(line);
  }
  document.getElementById('badge').textContent = pieces;
  document.getElementById('cart-total').textContent = pieces ? `Total €${total}` : 'Nothing in here yet.';
  document.getElementById('checkout').disabled = !pieces;
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  showProducts();
});
form.addEventListener('change', (event) => {
  if (event.target.name !== 'q') showProducts();
});
document.getElementById('open-cart').addEventListener('click', (event) => {
  const section = document.getElementById('cart');
  section.hidden = !section.hidden;
  event.currentTarget.setAttribute('aria-expanded', String(!section.hidden));
});
document.getElementById('checkout').addEventListener('click', () => {
  cart.clear();
  showCart();
  document.getElementById('cart-total').textContent = 'Thank you for your order!';
});

showProducts();
showCart();
