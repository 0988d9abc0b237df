/** The main export of the package, as a project that has installed it uses it. */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';

const [, EXAMPLE = ''] = /```js\n([\s\S]*?)```/.exec(readFileSync('docs/library.md', 'utf8')) ?? [];
const run = promisify(execFile);
let project: string;

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'sd-library-'));
  mkdirSync(join(project, 'node_modules'));
  symlinkSync(resolve('.'), join(project, 'node_modules/scenedelta'));
  for (const side of ['before', 'after']) copyFileSync(`examples/${side}.jpg`, join(project, `${side}.jpg`));
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

/** @returns the output of a module of the project */
async function printed(source: string): Promise<string> {
  writeFileSync(join(project, 'main.mjs'), source);
  // No Redis is at REDIS_URL: the library must not even try it.
  const env = { ...process.env, HOME: project, REDIS_URL: 'redis://127.0.0.1:1', DEFAULT_MODEL: 'none' };
  return (await run(process.execPath, ['main.mjs'], { cwd: project, env })).stdout.trim();
}

it('the example of the documents says what changed, without Redis and without settings', async () => {
  expect(await printed(EXAMPLE)).toMatch(/^change .*person/i);
}, 60_000);

it('answers in a language, draws outlines, and names what is wrong with a frame', async () => {
  const lines = (
    await printed(`
      import { readFileSync } from 'node:fs';
      import { Pipeline, ScenedeltaError } from 'scenedelta';
      const [before, after] = ['before.jpg', 'after.jpg'].map((file) => readFileSync(file));
      const pipeline = await Pipeline.open({ device: 'cpu' });
      const { finding, outline } = await pipeline.compare(before, after, { locale: 'de' });
      console.log(finding.caption);
      console.log(Buffer.from(await outline()).subarray(1, 4).toString());
      const error = await pipeline.compare(before, Buffer.from('text')).catch((thrown) => thrown);
      console.log(error instanceof ScenedeltaError, error.code);
      await pipeline.close();
    `)
  ).split('\n');
  expect(lines[0]).toMatch(/Person/);
  expect(lines.slice(1)).toEqual(['PNG', 'true image-unreadable']);
}, 60_000);

it('a setting that does not fit is refused by its name', async () => {
  const message = await printed(`
    import { Pipeline } from 'scenedelta';
    console.log(await Pipeline.open({ device: 'gpu' }).catch(({ code, message }) => code + ': ' + message));
  `);
  expect(message).toMatch(/^invalid-request: DEVICE="gpu": expected auto, cpu or cuda:N/);
});
