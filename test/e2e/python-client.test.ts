/** A client that another generator than that of clients/ makes of openapi/openapi.yaml: it sends pairs of frames. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { useService } from '../helpers/service.js';

const run = promisify(execFile);
const used = useService();
const TOOLS = resolve('.venv-api/bin');
const GENERATOR = join(TOOLS, 'openapi-python-client');
const DESCRIPTION = resolve('openapi/openapi.yaml');
/** The answers that the client receives. */
const RECEIVED = {
  json: [200, 'finished', { ticket: 7 }],
  form: [200, 'finished', 'gate-3'],
  camera: [201, 'previous'],
  refused: [422, 'before'],
};

let folder: string;
let files: string[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sd-python-client-'));
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

describe('A pair is sent by the client', () => {
  const python = existsSync(GENERATOR) ? it : it.skip;
  python(
    'of openapi-python-client (needs .venv-api, which npm test makes if Python is installed)',
    async () => {
      const output = join(folder, 'scenedelta_client');
      // The generator formats with ruff, which it looks for in PATH.
      const env = { ...process.env, PATH: `${TOOLS}${delimiter}${process.env.PATH}` };
      const args = ['generate', '--path', DESCRIPTION, '--meta', 'none', '--output-path', output];
      await run(GENERATOR, args, { env });
      const client = [resolve('test/e2e/post_pair.py')];
      expect(await received(join(TOOLS, 'python'), client, { PYTHONPATH: folder })).toEqual(RECEIVED);
    },
    120_000,
  );
});
