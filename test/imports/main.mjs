/**
 * `npm run test:imports`: openapi.yaml imported with the libraries by which Postman and Bruno import it. They are
 * installed into a temporary folder, because their 200 packages serve nothing else. It needs the npm registry.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { ROOT, runMain, Stop } from '../../scripts/lib/shell.mjs';

const LIBRARIES = ['openapi-to-postmanv2@6.3.3', '@usebruno/converters@0.23.0'];
const METHODS = ['get', 'put', 'post', 'patch', 'delete'];

await runMain(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sd-imports-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...LIBRARIES], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const load = createRequire(join(folder, 'package.json'));
    const text = readFileSync(join(ROOT, 'openapi/openapi.yaml'), 'utf8');
    const { paths } = parse(text);
    const expected = Object.values(paths).flatMap((path) => METHODS.filter((method) => method in path)).length;
    const imported = { Postman: await inPostman(load, text), Bruno: inBruno(load, text) };
    for (const [program, requests] of Object.entries(imported)) {
      if (requests !== expected) throw new Stop(`${program} imports ${requests} requests, expected ${expected}`);
    }
    console.log(`Postman and Bruno import ${expected} requests`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

function countOf(items, members) {
  return items.reduce((sum, item) => sum + (item[members] ? countOf(item[members], members) : 1), 0);
}

async function inPostman(load, data) {
  const { convertV2 } = load('openapi-to-postmanv2');
  const { result, reason, output } = await promisify(convertV2)({ type: 'string', data }, {});
  if (!result) throw new Stop(`Postman: ${reason}`);
  return countOf(output[0].data.item, 'item');
}

function inBruno(load, text) {
  return countOf(load('@usebruno/converters').openApiToBruno(parse(text)).items, 'items');
}
