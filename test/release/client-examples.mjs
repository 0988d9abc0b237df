/** Runs the examples of docs/clients.md in a project that has the package: types are checked, and each must print. */
import { execFile, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { ROOT } from '../../scripts/lib/shell.mjs';

const run = promisify(execFile);
const LIMIT_MS = 60_000;
const SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes, ok').toString('base64')}`;
const EVENT = JSON.stringify({ type: 'change.opened', data: { change: { caption: 'A car has left.' } } });
const TYPES = ['--strict', '--exactOptionalPropertyTypes', '--module', 'nodenext', '--target', 'es2022'];

/** @returns the three examples of the page in a language: a pair, a camera, a receiver */
export const examplesOf = (language) =>
  [
    ...readFileSync(join(ROOT, 'docs/clients.md'), 'utf8').matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs')),
  ].map(([, source]) => source);

/**
 * @param project folder with node_modules/scenedelta, node_modules/@types/node, before.jpg and after.jpg
 * @returns the output of the examples of a pair and of a camera
 * @throws Error if a type is wrong, an example fails, or the receiver accepts a wrong signature
 */
export async function tryTypeScript(project, service, port) {
  const tsc = join(ROOT, 'node_modules/typescript/lib/tsc.js');
  const files = examplesOf('ts').map((source, i) => {
    writeFileSync(join(project, `example-${i}.mts`), at(source, service, 8081, port));
    return `example-${i}`;
  });
  await run(process.execPath, [tsc, ...TYPES, '--types', 'node', ...files.map((name) => `${name}.mts`)], {
    cwd: project,
  }).catch(({ stdout }) => {
    throw new Error(`types of the examples:\n${stdout}`);
  });
  return tryExamples(
    process.execPath,
    files.map((name) => `${name}.mjs`),
    { project, service, port },
  );
}

/** @param python interpreter that has the client. As tryTypeScript */
export function tryPython(python, project, service, port) {
  const files = examplesOf('python').map((source, i) => {
    writeFileSync(join(project, `example_${i}.py`), at(source, service, 8082, port));
    return `example_${i}.py`;
  });
  return tryExamples(python, files, { project, service, port });
}

const at = (source, { url }, example, port) =>
  source.replaceAll('http://127.0.0.1:8080', url).replaceAll(String(example), String(port));

async function tryExamples(program, [pair, camera, receiver], { project, service, port }) {
  const env = { ...process.env, SCENEDELTA_KEY: service.key, WEBHOOK_SECRET: SECRET };
  const options = { cwd: project, env, timeout: LIMIT_MS };
  const printed = [];
  for (const file of [pair, camera]) printed.push((await run(program, [file], options)).stdout.trim());
  const child = spawn(program, [receiver], { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await tryReceiver(child, `http://127.0.0.1:${port}`);
  } finally {
    child.kill();
  }
  return printed;
}

/** A webhook is accepted and printed; the same one with another body, and one without a signature, are not. */
async function tryReceiver(child, url) {
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (printed += text));
  const at = new Date();
  const signed = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': new Webhook(SECRET).sign('msg_1', at, EVENT),
  };
  const statuses = [];
  for (const [headers, body] of [
    [signed, EVENT],
    [signed, EVENT.replace('left', 'come')],
    [{}, EVENT],
  ]) {
    statuses.push(await send(url, headers, body));
  }
  if (String(statuses) !== '204,401,401') throw new Error(`the receiver answers ${statuses}, expected 204,401,401`);
  if (!printed.includes('A car has left.')) throw new Error(`the receiver printed ${JSON.stringify(printed)}`);
}

async function send(url, headers, body) {
  for (const end = Date.now() + LIMIT_MS; ; await pause(50)) {
    try {
      return (await fetch(url, { method: 'POST', headers, body })).status;
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}
