/** Uses of the packed package in an empty project, next to a service that runs from it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ROOT, Stop, say, seconds } from '../../scripts/lib/shell.mjs';
import { tryPython, tryTypeScript } from './client-examples.mjs';

const PORT = 18_081;
/** Packages that `scenedelta/client` must not load. */
const HEAVY = ['onnxruntime-node', 'ioredis', 'bullmq', 'sharp', 'fastify'];

/** @param project folder with the installed package. @throws Stop if a use fails */
export async function useByPackage(project, { url, headers, dataDir }) {
  const service = { url, key: headers.authorization.replace('Bearer ', '') };
  for (const side of ['before', 'after']) {
    cpSync(join(ROOT, `examples/${side}.jpg`), join(project, `${side}.jpg`));
  }
  const step = async (name, work) => {
    const start = Date.now();
    const said = await work();
    say(name, `${said} (${seconds(start)})`);
  };
  await step('curl', () => byCurl(project, url, headers));
  await step('library', () => byLibrary(project));
  await step('TypeScript', async () => (await tryTypeScript(project, service, PORT)).join('; '));
  await step('no models', () => withoutHeavyParts(project));
  await step('Python', async () => {
    const venv = join(project, 'venv');
    execFileSync('python3', ['-m', 'venv', venv]);
    const python = join(venv, 'bin/python');
    const client = join(project, 'node_modules/scenedelta/clients/python');
    execFileSync(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', client]);
    return (await tryPython(python, project, service, PORT + 1)).join('; ');
  });
  await step('MCP', () => byAgent(project, url, dataDir));
}

function byCurl(project, url, { authorization }) {
  const frames = ['before', 'after'].flatMap((side) => ['-F', `${side}=@${side}.jpg`]);
  const args = ['-sS', '-H', `Authorization: ${authorization}`, ...frames, `${url}/v1/comparisons`];
  return captionOf(JSON.parse(execFileSync('curl', args, { cwd: project })));
}

function captionOf({ verdict, caption, ...rest }) {
  if (verdict !== 'change') throw new Stop(`expected a change, got ${JSON.stringify({ verdict, caption, ...rest })}`);
  return caption;
}

function byLibrary(project) {
  const [, source] = /```js\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs/library.md'), 'utf8'));
  writeFileSync(join(project, 'library.mjs'), source);
  const env = { PATH: process.env.PATH, HOME: project, REDIS_URL: 'redis://127.0.0.1:1' };
  const printed = execFileSync(process.execPath, ['library.mjs'], { cwd: project, env, encoding: 'utf8' }).trim();
  if (!printed.startsWith('change ')) throw new Stop(`the library prints ${printed}`);
  return printed;
}

/** The client works without the packages of the service, and a command that needs one names it in one line. */
function withoutHeavyParts(project) {
  without(HEAVY, project, () => {
    const program = "import { createClient } from 'scenedelta/client'; createClient({ url: 'http://127.0.0.1:1' })";
    execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: project });
  });
  for (const name of ['sharp', 'onnxruntime-node']) {
    const [program, args] = [join(project, 'node_modules/.bin/scenedelta'), ['compare', 'before.jpg', 'after.jpg']];
    const run = () => spawnSync(program, args, { cwd: project, encoding: 'utf8', timeout: 60_000 });
    const { status, stderr } = without([name], project, run);
    const line = new RegExp(`^scenedelta: ${name} has no part for this system .*: npm install .*\n$`);
    if (status !== 1 || !line.test(stderr)) throw new Stop(`without ${name} compare exits with ${status}: ${stderr}`);
  }
  return 'the client loads without Redis and models; compare names a missing part';
}

/** Runs `work` while these packages are away. */
function without(names, project, work) {
  const move = (from, to) => {
    for (const name of names) renameSync(join(project, from, name), join(project, to, name));
  };
  mkdirSync(join(project, 'away'), { recursive: true });
  move('node_modules', 'away');
  try {
    return work();
  } finally {
    move('away', 'node_modules');
  }
}

async function byAgent(project, url, dataDir) {
  const client = new Client({ name: 'release', version: '1' });
  const args = ['mcp', '--api', url, '--key-file', join(dataDir, 'first-key')];
  await client.connect(new StdioClientTransport({ command: join(project, 'node_modules/.bin/scenedelta'), args }));
  try {
    const { content } = await client.callTool({ name: 'cameras', arguments: {} });
    if (!JSON.stringify(content).includes('gate-3')) throw new Stop(`MCP answers ${JSON.stringify(content)}`);
    const { tools } = await client.listTools();
    return `${tools.length} tools; cameras names gate-3`;
  } finally {
    await client.close();
  }
}
