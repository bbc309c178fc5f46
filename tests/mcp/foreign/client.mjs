// A client that nobody here wrote: the TypeScript SDK. Prints what it saw as one JSON object.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [, , modules, transport, page, ...command] = process.argv;
const load = createRequire(`${modules}/package.json`);
const from = (name) => import(pathToFileURL(load.resolve(`@modelcontextprotocol/sdk/${name}`)).href);
const { Client } = await from('client/index.js');
const { ElicitRequestSchema } = await from('types.js');

async function opened() {
  if (transport === 'stdio') {
    const { StdioClientTransport } = await from('client/stdio.js');
    return new StdioClientTransport({ command: command[0], args: command.slice(1), env: process.env, stderr: 'inherit' });
  }
  const { StreamableHTTPClientTransport } = await from('client/streamableHttp.js');
  const [url, token] = command;
  return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } });
}

const client = new Client({ name: 'foreign', version: '1' }, { capabilities: { elicitation: {} } });
const asked = [];
client.setRequestHandler(ElicitRequestSchema, (request) => {
  asked.push(request.params.message);
  return { action: 'accept', content: {} };
});
await client.connect(await opened());
const progress = [];
const { tools } = await client.listTools();
const text = (result) => result.content.filter((part) => part.type === 'text').map((part) => part.text).join('');
const call = (name, args) =>
  client.callTool({ name, arguments: args }, undefined, { onprogress: (step) => progress.push(step.message) });
const open = await call('web_open', { url: page });
const refused = await call('web_open', { url: 'http://169.254.169.254/' });
const picture = await call('web_screenshot', {});
// Every other tool, on a page with a control of each kind; an error is an answer too.
const controls = text(await call('web_open', { url: page.replace(/[^/]*$/, 'controls.html') }));
const ref = (line) => (controls.match(new RegExp(`${line}[^\\n]*\\[ref=(e\\d+)\\]`)) || [])[1];
const given = {
  web_snapshot: { interactive_only: false }, web_click: { ref: ref('checkbox') }, web_check: { ref: ref('checkbox') },
  web_uncheck: { ref: ref('checkbox') }, web_fill: { ref: ref('textbox'), value: 'x' }, web_press_key: { key: 'Tab' },
  web_select: { ref: ref('combobox'), values: ['Medium'] }, web_scroll: { direction: 'down' }, web_get_text: { ref: ref('checkbox') },
  web_get_value: { ref: ref('textbox') }, web_read: {}, web_wait: { role: 'checkbox' }, web_find: { text: 'a' }, web_tabs: {},
  web_type: { ref: ref('textbox'), text: 'y' }, web_fill_form: { fields: [`${ref('textbox')}=z`] }, web_dialog: { action: 'accept' },
  web_ask_person: { message: 'Look at it, please.' }, web_upload: { ref: ref('textbox'), paths: ['../x'] }, web_download: { dest_path: 'x', url: page }, web_back: {},
};
const called = {};
for (const [name, args] of Object.entries(given)) called[name] = ((found) => [Boolean(found.isError), text(found)])(await call(name, args));
const resources = (await client.listResources()).resources.map((resource) => resource.uri);
const network = (await client.readResource({ uri: 'webview://network' })).contents[0].text;
await client.close();
console.log(
  JSON.stringify({
    tools: tools.map((tool) => tool.name),
    open: text(open),
    refused: [refused.isError, text(refused)],
    image: picture.content.filter((part) => part.type === 'image').map((part) => [part.mimeType, part.data.length]),
    resources,
    network,
    progress,
    asked,
    called,
  }),
);
