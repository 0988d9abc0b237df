/** Full collections of a process with inference threads run at once, in new threads too. */
import { execFile } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { jest } from '@jest/globals';

jest.setTimeout(120_000);

const SETTING = pathToFileURL('dist/inference/garbage-collection.js').href;
/** Fills a heap with 60 MB that stay in use, so that the engine must collect all of it several times. */
const FILL = 'const kept = []; for (let i = 0; i < 60; i++) kept.push(Array.from({ length: 60_000 }, (_, k) => [k]));';

/** @returns the lines of the engine about full collections, of a process that fills a heap in a thread */
async function fullCollections(before: string): Promise<string[]> {
  const program = `
    import { Worker } from 'node:worker_threads';
    ${before}
    new Worker(${JSON.stringify(FILL)}, { eval: true });`;
  const args = ['--trace-gc', '--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 });
  return stdout.split('\n').filter((line) => line.includes('Mark-Compact'));
}
const inSteps = (lines: readonly string[]) => lines.filter((line) => line.includes('finalize incremental marking'));

it('collects at once after the setting, and in steps without it', async () => {
  const set = await fullCollections(`(await import(${JSON.stringify(SETTING)})).collectAtOnce();`);
  expect(set.length).toBeGreaterThan(0);
  expect(inSteps(set)).toEqual([]);
  expect(inSteps(await fullCollections(''))).not.toEqual([]);
});
