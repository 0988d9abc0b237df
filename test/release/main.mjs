/**
 * `npm run test:release`: the package that `npm pack` makes is installed into an empty project, and `scenedelta up`
 * runs from it. It is used by curl, as a library, by its clients and by an agent. Then its data is backed up while it
 * runs, and restored into another folder under another port, by the commands of docs/operations.md: comparisons,
 * frames, cameras and keys must be the same. It needs the registries of npm and PyPI.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { askInstance } from '../../scripts/lib/instance.mjs';
import { ROOT, runMain, Stop, say, seconds } from '../../scripts/lib/shell.mjs';
import { formOf } from '../bench/lib/service.mjs';
import { useByPackage } from './project.mjs';

const LIMIT_MS = 180_000;
const NOT_COPIED = ['redis', 'logs', 'reserve'];

await runMain(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sd-release-'));
  const started = [];
  try {
    const start = Date.now();
    const program = install(folder);
    for (const client of ['companion', 'feedback', 'import', 'mcp', 'rounds', 'verify']) {
      execFileSync(program, [client, '--help'], { cwd: tmpdir() });
    }
    const first = await up(program, join(folder, 'first'), started);
    say('first', `${first.url}, ${seconds(start)} after npm install began`);
    await useByPackage(join(folder, 'project'), first);
    const made = await work(first);
    const before = await read(first, made);
    backUp(first.dataDir, join(folder, 'backup'));
    await first.stop();

    restore(join(folder, 'backup'), join(folder, 'second'));
    const second = await up(program, join(folder, 'second'), started);
    say('second', second.url);
    const after = await read(second, made);
    if (JSON.stringify(after) !== JSON.stringify(before)) {
      throw new Stop(`restored: ${JSON.stringify(after)}\nexpected: ${JSON.stringify(before)}`);
    }
    const { verdict } = await compare(second);
    await second.stop();
    console.log(
      `${Object.keys(before).length} resources are equal after the restore; a new pair is answered ${verdict}`,
    );
  } finally {
    for (const child of started) {
      if (child.kill('SIGTERM')) await once(child, 'exit');
    }
    rmSync(folder, { recursive: true, force: true });
  }
});

/** @returns the installed command */
function install(folder) {
  // `npm run` hands the settings of the checkout on; an installed package has none, and none of its overrides.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_config_')));
  const npm = (...args) =>
    execFileSync('npm', args, { cwd: ROOT, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  const [{ filename, size, entryCount }] = JSON.parse(npm('pack', '--json', '--pack-destination', folder));
  say('pack', `${basename(filename)}: ${entryCount} files, ${(size / 1e6).toFixed(1)} MB`);
  const project = join(folder, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{"private":true}');
  // A package for a newer Node is refused, of which npm would only warn.
  const options = ['--ignore-scripts', '--engine-strict', '--no-audit', '--no-fund', '--prefix', project];
  const start = Date.now();
  npm('install', ...options, join(folder, filename), '@types/node@20');
  say('install', seconds(start));
  return join(project, 'node_modules/.bin/scenedelta');
}

/** @returns {Promise<{ url: string, dataDir: string, headers: object, stop: () => Promise<void> }>} */
async function up(program, dataDir, started) {
  // Not in the checkout, of which nothing may be used.
  const env = { ...process.env, DATA_DIR: dataDir, PORT: '0' };
  const child = spawn(program, ['up'], { cwd: tmpdir(), env, stdio: ['ignore', 'pipe', 'inherit'] });
  started.push(child);
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (printed += text));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  for (const end = Date.now() + LIMIT_MS; !printed.includes('Up after'); await pause(50)) {
    if (child.exitCode !== null || Date.now() > end) throw new Stop(`scenedelta up is not up:\n${printed}`);
  }
  const { url } = await askInstance(dataDir);
  return {
    url,
    dataDir,
    headers: { authorization: `Bearer ${readFileSync(join(dataDir, 'first-key'), 'utf8').trim()}` },
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function request({ url, headers }, method, path, { body, headers: more = {} } = {}) {
  const answer = await fetch(`${url}${path}`, { method, body, headers: { ...headers, prefer: 'wait=60', ...more } });
  if (!answer.ok) throw new Stop(`${method} ${path} answers ${answer.status}: ${await answer.text()}`);
  return answer;
}

function example(name) {
  return readFileSync(join(ROOT, 'examples', `${name}.jpg`));
}

async function compare(service) {
  const form = formOf({ before: example('before'), after: example('after') });
  return (await request(service, 'POST', '/v1/comparisons', form)).json();
}

/** @returns the paths of what it made */
async function work(service) {
  const { id } = await compare(service);
  const settings = { body: '{"name":"Gate"}', headers: { 'content-type': 'application/json' } };
  await request(service, 'PUT', '/v1/cameras/gate', settings);
  const paths = [`/v1/comparisons/${id}`, '/v1/cameras/gate', '/v1/changes?camera=gate'];
  for (const [i, name] of ['before', 'after', 'after'].entries()) {
    const captured_at = `2026-06-01T12:00:0${i}Z`;
    const form = formOf({ frame: example(name) }, { captured_at });
    const { id: frame } = await (await request(service, 'POST', '/v1/cameras/gate/frames', form)).json();
    paths.push(`/v1/comparisons/${frame}`);
  }
  return paths;
}

/** @returns the answers by path; frames by status and bytes, because links name the address of the service */
async function read(service, paths) {
  const found = {};
  for (const path of paths) {
    const text = await (await request(service, 'GET', path)).text();
    const { frames, heatmaps: _links, ...resource } = JSON.parse(text);
    found[path] = resource;
    for (const [side, { url }] of Object.entries(frames ?? {})) {
      const { pathname, search } = new URL(url);
      const answer = await fetch(service.url + pathname + search);
      found[`${path} ${side}`] = `${answer.status} ${Buffer.from(await answer.arrayBuffer()).toString('base64')}`;
    }
  }
  return found;
}

/** Redis first: the frames that its snapshot names are there already. */
function backUp(dataDir, folder) {
  mkdirSync(folder);
  execFileSync('redis-cli', ['-s', join(dataDir, 'redis/redis.sock'), '--rdb', join(folder, 'dump.rdb')]);
  const isCopied = (path) => !NOT_COPIED.includes(basename(path)) && !path.endsWith('.sock');
  cpSync(dataDir, join(folder, 'data'), { recursive: true, filter: isCopied });
}

/** Redis reads a file of appended commands, which may begin with a snapshot. */
function restore(folder, dataDir) {
  cpSync(join(folder, 'data'), dataDir, { recursive: true });
  mkdirSync(join(dataDir, 'redis'), { mode: 0o700 });
  cpSync(join(folder, 'dump.rdb'), join(dataDir, 'redis/appendonly.aof'));
}
