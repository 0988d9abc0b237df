/** The clients in TypeScript and Python, by the examples of docs/clients.md, against the running service. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../helpers/free-port.js';
import { type Receiver, startReceiver } from '../helpers/receiver.js';
import { useService } from '../helpers/service.js';
import { examplesOf, tryPython, tryTypeScript } from '../release/client-examples.mjs';

const used = useService();
const PYTHON = resolve('.venv-api/bin/python');
const CAPTION = 'A red thing has appeared on the right.';
/** A change is listed after its third frame. */
const EXPECTED = [`change ${CAPTION}`, expect.stringContaining(CAPTION)];
let project: string;
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'sd-clients-'));
  await mkdir(join(project, 'node_modules/@types'), { recursive: true });
  await symlink(resolve('.'), join(project, 'node_modules/scenedelta'));
  for (const name of ['@types/node', 'undici-types']) {
    await symlink(resolve('node_modules', name), join(project, 'node_modules', name));
  }
  // A copy of the package would be found without this.
  process.env.PYTHONPATH = resolve('clients/python');
  for (const side of ['before', 'after'] as const) await writeFile(join(project, `${side}.jpg`), used.pair[side]);
}, 240_000);
afterAll(() => rm(project, { recursive: true, force: true }));

const python = existsSync(PYTHON) ? describe : describe.skip;
const service = () => ({ url: used.service.url, key: used.service.headers.authorization.replace('Bearer ', '') });

it('each example has at most 20 lines', () => {
  for (const language of ['ts', 'python'] as const) {
    const lines = examplesOf(language).map((source) => source.trim().split('\n').length);
    expect(lines).toHaveLength(3);
    expect(Math.max(...lines)).toBeLessThanOrEqual(20);
  }
});

it('TypeScript: a pair, a camera, a receiver', async () => {
  expect(await tryTypeScript(project, service(), await freePort())).toEqual(EXPECTED);
}, 120_000);

python('Python (needs .venv-api, which npm test makes if Python is installed)', () => {
  it('a pair, a camera, a receiver', async () => {
    expect(await tryPython(PYTHON, project, service(), await freePort())).toEqual(EXPECTED);
  }, 120_000);

  it('says the title and the detail of a refusal', async () => {
    expect(await printed(service().url, 'service.compare(b"no image", b"")')).toMatch(
      /answered 422: A frame is not an/,
    );
  });

  describe('a service of another major version', () => {
    let other: Receiver;
    beforeAll(async () => {
      other = await startReceiver((_request, response) => {
        response.setHeader('scenedelta-version', '7.2.0').end('{}');
      });
    });
    afterAll(() => other.close());

    it('is refused with both versions', async () => {
      for (const call of ['list(service.changes())', 'next(service.events())']) {
        expect(await printed(other.url, call)).toMatch(
          / is scenedelta 7\.2\.0, and this client is \d+\.\d+\.\d+\S*: a client/,
        );
      }
    });
  });

  /** @returns the message of a call that fails */
  async function printed(url: string, call: string) {
    const source = `
from scenedelta import Client, Failure
with Client(${JSON.stringify(url)}, ${JSON.stringify(service().key)}) as service:
    try:
        ${call}
    except Failure as failure:
        print(failure)
`;
    return (await promisify(execFile)(PYTHON, ['-c', source], { env: process.env })).stdout.trim();
  }
});
