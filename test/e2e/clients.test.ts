/** Clients generated from openapi/openapi.yaml, each of which sends pairs of frames to a running service. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { useService } from '../helpers/service.js';

const run = promisify(execFile);
const used = useService();
const TOOLS = resolve('.venv-api/bin');
const GENERATOR = join(TOOLS, 'openapi-python-client');
const DESCRIPTION = resolve('openapi/openapi.yaml');
/** The answers that every client receives. */
const RECEIVED = {
  json: [200, 'finished', { ticket: 7 }],
  form: [200, 'finished', 'gate-3'],
  camera: [201, 'previous'],
  refused: [422, 'before'],
};

let folder: string;
let files: string[];
beforeAll(async () => {
  // Inside the repository, so that compiled code finds its packages.
  await mkdir('tmp', { recursive: true });
  folder = await mkdtemp(resolve('tmp/clients-'));
  files = [join(folder, 'before.jpg'), join(folder, 'after.jpg')];
  await writeFile(files[0] as string, used.pair.before);
  await writeFile(files[1] as string, used.pair.after);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const received = async (program: string, args: string[], env: NodeJS.ProcessEnv = {}) => {
  const { url, headers } = used.service;
  const key = headers.authorization.replace('Bearer ', '');
  const { stdout } = await run(program, [...args, url, key, ...files], { env: { ...process.env, ...env } });
  return JSON.parse(stdout);
};

describe('A pair is sent by a client', () => {
  it('of openapi-typescript and openapi-fetch, which compiles', async () => {
    const node = (...args: string[]) => run(process.execPath, args);
    await node(
      ...['--import', './scripts/lib/use-typescript-5.mjs', 'node_modules/openapi-typescript/bin/cli.js'],
      // Members with a default are optional in requests.
      ...[DESCRIPTION, '--default-non-nullable', 'false', '--output', join(folder, 'openapi.d.ts')],
    );
    await copyFile('test/clients/post-pair.ts', join(folder, 'post-pair.ts'));
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    await node(
      ...['node_modules/typescript/lib/tsc.js', '--strict', '--skipLibCheck', '--target', 'ES2022'],
      ...['--module', 'NodeNext', '--moduleResolution', 'NodeNext', '--types', 'node', '--ignoreConfig'],
      ...['--outDir', folder, join(folder, 'post-pair.ts')],
    );
    expect(await received(process.execPath, [join(folder, 'post-pair.js')])).toEqual(RECEIVED);
  }, 120_000);

  const python = existsSync(GENERATOR) ? it : it.skip;
  python(
    'of openapi-python-client (needs .venv-api, which npm test makes if Python is installed)',
    async () => {
      const output = join(folder, 'scenedelta_client');
      // The generator formats with ruff, which it looks for in PATH.
      const env = { ...process.env, PATH: `${TOOLS}${delimiter}${process.env.PATH}` };
      const args = ['generate', '--path', DESCRIPTION, '--meta', 'none', '--output-path', output];
      await run(GENERATOR, args, { env });
      const client = [resolve('test/clients/post_pair.py')];
      expect(await received(join(TOOLS, 'python'), client, { PYTHONPATH: folder })).toEqual(RECEIVED);
    },
    120_000,
  );
});
