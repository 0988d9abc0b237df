/** `scenedelta search` over the results of `scenedelta footage`. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { jest } from '@jest/globals';
import { changesJson } from '../../src/footage/outputs/json.js';
import type { FootageChange } from '../../src/footage/records.js';
import { change, moment, recording, visit } from '../footage/records.js';

// Three starts of the program in one test take a while on a busy machine.
jest.setTimeout(120_000);

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sd-search-'));
});
afterEach(() => rm(folder, { recursive: true }));

const main = resolve('dist/cli/main.js');
const search = (...args: string[]): Promise<{ status: unknown; stdout: string; stderr: string }> =>
  new Promise((done) => {
    execFile(process.execPath, [main, 'search', ...args], { cwd: folder }, (error, stdout, stderr) =>
      done({ status: error === null ? 0 : error.code, stdout, stderr }),
    );
  });
const save = async (name: string, text: string) => {
  await mkdir(join(folder, name, '..'), { recursive: true });
  await writeFile(join(folder, name), text);
};
const lines = (...changes: FootageChange[]) => changes.map((one) => `${JSON.stringify(one)}\n`).join('');

it('finds changes in several results, the best first, and explains its reading', async () => {
  const truck = change(1, { camera: 'gate', caption: 'a white truck has appeared', zone: 'dock' });
  const gone = change(2, { kind: 'disappear', caption: 'a white truck has left', confirmed: moment(99) });
  await save('one/changes.ndjson', lines(change(3), truck));
  await save('two/changes.json', [...changesJson(recording([gone]))].join(''));
  const { status, stdout } = await search('a white lorry left yesterday', 'one', 'two', '--tz', 'Asia/Kolkata');
  expect(status).toBe(0);
  expect(stdout.split('\n')).toEqual([
    '"lorry" was read as truck (synonym)',
    'unknown: yesterday',
    'no change matches all words; the nearest:',
    '2026-06-01T17:31:39.000+05:30  yard: a white truck has left  [white, truck, left]  two, yard/12.mp4 at 99 s',
    '2026-06-01T17:30:11.000+05:30  gate: a white truck has appeared  [white, truck]  one, yard/12.mp4 at 11 s',
    '2 of 3 changes',
    '',
  ]);
  const byCamera = await search('truck', 'one', 'two/changes.json', '--camera', 'gate', '--json');
  expect(JSON.parse(byCamera.stdout)).toEqual({
    items: [{ from: 'one', ...truck, match: { score: 1 / 61, words: [{ word: 'truck', matched: 'truck' }] } }],
    search: { interpreted_as: [], unknown_words: [], all_words: true, changes: 1 },
    visits: { items: [] },
  });
  const later = await search('truck', 'one', 'two', '--since', '2026-06-01 17:31', '--tz', 'Asia/Kolkata', '-n', '1');
  expect(later.stdout).toContain('1 of 1 change');
});

it('prints times in the time zone of the results, and reads those of its options in it', async () => {
  const truck = change(1, { caption: 'a white truck has appeared' });
  const written = JSON.parse([...changesJson(recording([truck]))].join(''));
  for (const camera of written.summary.cameras) camera.timezone = 'Asia/Kolkata';
  await save('one/changes.json', JSON.stringify(written));
  const found = await search('truck', 'one', '--since', '2026-06-01 17:30');
  expect(found.stdout).toContain('2026-06-01T17:30:11.000+05:30  yard: a white truck has appeared');
  expect((await search('truck', 'one', '--since', '2026-06-01 17:31')).stdout).toContain('0 of 0 changes');
  expect((await search('truck', 'one', '--tz', 'UTC')).stdout).toContain('2026-06-01T12:00:11.000Z  yard');
});

it('finds the visits that have all words, after the changes', async () => {
  const person = visit(1, { caption: 'a person has come and gone' });
  const car = visit(2, { caption: 'a red car has come and gone' });
  await save('one/changes.ndjson', lines(change(1)));
  await save('one/visits.ndjson', [person, car].map((one) => `${JSON.stringify(one)}\n`).join(''));
  const found = JSON.parse((await search('red automobile', 'one', '--json')).stdout);
  expect(found.visits.items).toEqual([{ from: 'one', ...car }]);
  expect((await search('red automobile', 'one')).stdout).toMatch(/: a red car has come and gone {2}\[visit\] {2}one/);
  expect(JSON.parse((await search('red', 'one', '--zone', 'dock', '--json')).stdout).visits.items).toEqual([]);
});

it('orders changes without capture times by the time in their files, and keeps equal ids of two runs', async () => {
  const at = (seconds: number) => ({ ...moment(seconds), at: null });
  await save('one/changes.ndjson', lines(change(1, { confirmed: at(5) }), change(2, { confirmed: at(7) })));
  await save('two/changes.ndjson', lines(change(1, { confirmed: at(6) })));
  const { stdout } = await search('person', 'one', 'two');
  expect(stdout.match(/at \d+ s/g)).toEqual(['at 7 s', 'at 6 s', 'at 5 s']);
});

it.each([
  ['a missing folder', ['car', 'nowhere'], 'the results="nowhere": expected a folder with changes.ndjson'],
  ['a query of nothing', [' ', '.'], 'the query=" ": expected 1 to 500 characters'],
  ['a long query', ['x'.repeat(10_000), '.'], 'expected 1 to 500 characters'],
  ['an unknown kind', ['car', '.', '--kind', 'vanish'], '--kind="vanish": expected one of appear'],
  ['a bad limit', ['car', '.', '-n', '0'], '--limit="0": expected a whole number from 1'],
  ['a bad time', ['car', '.', '--since', 'yesterday'], '--since="yesterday": expected a time'],
  ['no results', ['car'], "missing required argument 'results'"],
])('refuses %s', async (_what, args, message) => {
  const { status, stderr } = await search(...args);
  expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
});

it('names the file and the record that is no change', async () => {
  await save('one/changes.ndjson', `${lines(change(1))}{"v":1}\n`);
  expect((await search('car', 'one')).stderr).toContain('change 2 is no change of footage');
  await save('one/changes.ndjson', 'not json');
  expect((await search('car', 'one')).stderr).toContain('"not json" is no JSON: unexpected "o" at line 1, column 2');
});
