/** The camera example of the README, as a user pastes it, with the default bundle. */
import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { promisify } from 'node:util';
import { loadConfig } from '../../src/process/config.js';
import type { Change } from '../../src/schemas/change.js';
import type { Comparison } from '../../src/schemas/comparison.js';
import { newDataDir, startService } from '../helpers/service.js';

const README = readFileSync('README.md', 'utf8');

it("the README's camera example ends with two changes, after an answer that says they await confirmation", async () => {
  const dataDir = newDataDir();
  const { modelsDir, defaultModel } = loadConfig({});
  const service = await startService({
    dataDir,
    env: { MODELS_DIR: modelsDir, DEFAULT_MODEL: defaultModel },
  });
  try {
    const block = README.split('### A camera')[1]?.split('```')[1] ?? '';
    const script = block
      .replace(/^sh\n/, '')
      .replaceAll('http://127.0.0.1:8080', service.url)
      .replaceAll('data/first-key', `${dataDir}/first-key`)
      .replaceAll('curl ', "curl --silent --show-error --write-out '\\n' ");
    const { stdout } = await promisify(execFile)('bash', ['-euc', script]);
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const frames: Comparison[] = answers.slice(1, -1);
    expect(frames.map(({ verdict }) => verdict)).toEqual(['none', 'change', 'change']);
    expect(frames.map(({ camera_frame }) => camera_frame?.pending?.map(({ detail }) => detail))).toEqual([
      [],
      Array(2).fill('a change waits for its confirmation: 1 of 2 frames in a row'),
      [],
    ]);
    const changes: Change[] = answers.at(-1).items;
    // The frames show that one person walked on and another one came.
    const opened = { camera: 'gate-3', status: 'opened' };
    expect(changes).toMatchObject([opened, opened]);
    expect(changes.map(({ kind }) => kind).sort()).toEqual(['appear', 'move']);
  } finally {
    await service.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}, 180_000);
