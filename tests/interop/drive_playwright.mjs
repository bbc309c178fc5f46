// Connects to a forwarded devtools port, clicks, and prints what it saw: drive_playwright.mjs MODULES PORT NO_DEFAULTS
import { createRequire } from 'node:module';

const [modules, port, noDefaults] = process.argv.slice(2);
const { chromium } = createRequire(`${modules}/x.js`)('playwright-core');
const options = { timeout: 15_000, noDefaults: noDefaults === 'true' };
const browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`, options).catch((error) => {
  console.log(JSON.stringify({ refused: error.message.split('\n')[0] }));
  process.exit(0);
});
const page = browser.contexts()[0].pages()[0];
await page.locator('li button').first().click();
console.log(JSON.stringify({ title: await page.title(), cart: await page.locator('.cart').textContent() }));
await browser.close();
