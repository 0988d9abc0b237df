import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import sharp from 'sharp';
import { command } from '../../lab/evaluate.js';

const run = (args: string[]) => command.parseAsync(args, { from: 'user' });

const folders: string[] = [];
afterEach(async () => {
  jest.restoreAllMocks();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

const CHANGED = {
  id: 'van',
  before: 'empty.png',
  after: 'van.png',
  references: ['a white van has appeared on the right', 'there is a van on the right now'],
  verdict: 'change',
  kind: 'appear',
  objects: [{ noun: 'van', colour: 'white', action: 'appeared', where: 'on the right' }],
  boxes_after: [[60, 20, 30, 20]],
  nuisance: ['rain'],
};
const SAME = {
  id: 'same',
  before: 'empty.png',
  after: 'empty.png',
  references: ['nothing has changed'],
  verdict: 'none',
  kind: 'none',
};
const SAID = {
  id: 'van',
  verdict: 'change',
  confidence: 0.9,
  kind: 'appear',
  caption: 'a van has appeared on the right',
  regions: [],
  peak_before: null,
  peak_after: { x: 0.75, y: 0.45, value: 0.8 },
  timings_ms: { total: 12 },
};
const SAID_NOTHING = {
  ...SAID,
  id: 'same',
  verdict: 'none',
  confidence: 0.1,
  kind: 'none',
  caption: 'nothing has changed',
  peak_after: null,
};

const ndjson = (...values: unknown[]) =>
  values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join('\n');

/** A folder with two frames, a manifest and predictions. */
async function folderWith(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'scenedelta-evaluate-'));
  folders.push(folder);
  const empty = sharp({ create: { width: 100, height: 60, channels: 3, background: '#445' } }).png();
  const van = await sharp({ create: { width: 30, height: 20, channels: 3, background: '#fff' } })
    .png()
    .toBuffer();
  await writeFile(join(folder, 'empty.png'), await empty.toBuffer());
  await writeFile(join(folder, 'van.png'), await empty.composite([{ input: van, left: 60, top: 20 }]).toBuffer());
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

const standard = { 'pairs.ndjson': ndjson(CHANGED, SAME), 'said.ndjson': ndjson(SAID_NOTHING, SAID) };

/** Runs the command; "@" in an argument stands for the folder. @returns the printed text */
async function evaluateIn(folder: string, ...args: string[]): Promise<string> {
  let printed = '';
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += text;
    return true;
  });
  await run(args.map((arg) => arg.replace('@', `${folder}/`)));
  return printed;
}

describe('evaluate --from-predictions', () => {
  it('prints a table of at most 100 columns and writes everything as JSON', async () => {
    const folder = await folderWith(standard);
    const text = await evaluateIn(
      folder,
      '@pairs.ndjson',
      '--from-predictions',
      '@said.ndjson',
      '--json',
      '@report.json',
    );
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
    const report = JSON.parse(await readFile(join(folder, 'report.json'), 'utf8'));
    expect(report).toMatchObject({
      format: 'scenedelta-evaluation/1',
      pairs: { all: 2, changed: 1, unchanged: 1 },
      captioner: {
        name: 'said',
        facts: { noun: { hits: 1, of: 1 }, colour: { hits: 0, of: 1 }, place: { hits: 1, of: 1 } },
        alarms: { auroc: 1, verdict: { hits: 2, of: 2 } },
        place: { game: { hits: 1, of: 1 }, emptyWhenUnchanged: { hits: 1, of: 1 } },
        timings: { total: 12 },
      },
      detectors: [{ name: 'pixels', game: { hits: 1, of: 1 } }],
      constantOfChanged: {
        name: 'constant 2',
        facts: { kind: { hits: 1, of: 1 }, colour: { hits: 1, of: 1 }, place: { hits: 1, of: 1 } },
      },
    });
    expect(text).toContain('constant 2: always "a white van has appeared on the right" and kind appear');
    expect(text).toContain('2 pairs, 1 changed, 1 unchanged');
  });

  it('adds a column for predictions of --baseline', async () => {
    const folder = await folderWith({
      ...standard,
      'blind.ndjson': ndjson({ ...SAID, caption: 'nothing has changed' }, SAID_NOTHING),
    });
    const text = await evaluateIn(
      folder,
      '@pairs.ndjson',
      '--from-predictions',
      '@said.ndjson',
      '--baseline',
      'blind=@blind.ndjson',
    );
    expect(text).toMatch(/noun \(and its direction\) +100\.0 % +100\.0 % +0\.0 % +100\.0 % +0\.0 %/);
  });

  it('scales boxes by the size of their own frame', async () => {
    const folder = await folderWith({
      ...standard,
      'pairs.ndjson': ndjson({ ...CHANGED, after: 'large.png', boxes_after: [[120, 40, 60, 40]] }),
    });
    await sharp(join(folder, 'van.png')).resize(200, 120).toFile(join(folder, 'large.png'));
    const text = await evaluateIn(folder, '@pairs.ndjson', '--from-predictions', '@said.ndjson');
    expect(text).toMatch(/pointing game +100\.0 %/);
    expect(text).toMatch(/place +100\.0 %/);
  });

  it('writes predictions that --from-predictions reads', async () => {
    const folder = await folderWith(standard);
    await mkdir(join(folder, 'copies'));
    const first = await evaluateIn(
      folder,
      '@pairs.ndjson',
      '--from-predictions',
      '@said.ndjson',
      '--predictions',
      '@copies/said.ndjson',
    );
    const second = await evaluateIn(folder, '@pairs.ndjson', '--from-predictions', '@copies/said.ndjson');
    expect(second).toBe(first);
  });
});

describe('bad input is refused with file, line and reason, and no output file is left', () => {
  const cases: [string, Record<string, string>, string[], RegExp][] = [
    ['no manifest', {}, ['@none.ndjson'], /none\.ndjson: no such file$/],
    ['an empty manifest', { 'pairs.ndjson': '\n' }, ['@pairs.ndjson'], /pairs\.ndjson: holds no pairs/],
    [
      'a line that is not JSON',
      { 'pairs.ndjson': ndjson(CHANGED, '{"id":') },
      ['@pairs.ndjson'],
      /pairs\.ndjson:2: not JSON/,
    ],
    [
      'no references',
      { 'pairs.ndjson': ndjson({ ...CHANGED, references: [] }) },
      ['@pairs.ndjson'],
      /pairs\.ndjson:1: references/,
    ],
    [
      'references missing',
      { 'pairs.ndjson': ndjson({ ...CHANGED, references: undefined }) },
      ['@pairs.ndjson'],
      /pairs\.ndjson:1: .*references/,
    ],
    [
      'a box of three numbers',
      { 'pairs.ndjson': ndjson({ ...CHANGED, boxes_after: [[1, 2, 3]] }) },
      ['@pairs.ndjson'],
      /:1: boxes_after/,
    ],
    [
      'an unknown verdict',
      { 'pairs.ndjson': ndjson({ ...CHANGED, verdict: 'maybe' }) },
      ['@pairs.ndjson'],
      /:1: verdict/,
    ],
    ['an id twice', { 'pairs.ndjson': ndjson(SAME, SAME) }, ['@pairs.ndjson'], /:2: id "same" is that of line 1/],
    [
      'a frame that is missing',
      { 'pairs.ndjson': ndjson(SAME, { ...CHANGED, after: 'lost.png' }) },
      ['@pairs.ndjson'],
      /:2: .*lost\.png: no such file$/,
    ],
    [
      'a frame that is no picture',
      { 'pairs.ndjson': ndjson({ ...CHANGED, after: 'pairs.ndjson' }) },
      ['@pairs.ndjson'],
      /:1: .*not a picture/,
    ],
    [
      'a width that is not the picture own',
      { 'pairs.ndjson': ndjson(SAME, { ...CHANGED, width: 200 }) },
      ['@pairs.ndjson'],
      /:2: the line says 200 x 60, and .*empty\.png has 100 x 60 pixels$/,
    ],
    [
      'a prediction that is missing',
      { ...standard, 'said.ndjson': ndjson(SAID) },
      ['@pairs.ndjson', '--from-predictions', '@said.ndjson'],
      /said\.ndjson: has no prediction for pair "same"/,
    ],
    [
      'a prediction of a wrong type',
      { ...standard, 'said.ndjson': ndjson(SAID, { ...SAID_NOTHING, confidence: 2 }) },
      ['@pairs.ndjson', '--from-predictions', '@said.ndjson'],
      /said\.ndjson:2: confidence/,
    ],
    [
      'an unknown nuisance',
      standard,
      ['@pairs.ndjson', '--nuisance', 'locusts'],
      /--nuisance "locusts": expected one of light, ir/,
    ],
    [
      'a baseline without a name',
      standard,
      ['@pairs.ndjson', '--baseline', 'x.ndjson'],
      /--baseline "x\.ndjson": expected NAME=FILE/,
    ],
    [
      'predictions and a bundle',
      standard,
      ['@pairs.ndjson', '--bundle', 'x', '--from-predictions', '@said.ndjson'],
      /'--from-predictions <file>' cannot be used with option '--bundle <name>'/,
    ],
    ['a missing bundle', standard, ['@pairs.ndjson', '--bundle', 'not-there'], /not-there/],
    ['no file at all', {}, [], /missing required argument 'pairs'/],
    [
      'an output folder that is not there',
      standard,
      ['@pairs.ndjson', '--from-predictions', '@said.ndjson', '--json', '@no/report.json'],
      /report\.json: cannot be written \(ENOENT\)/,
    ],
  ];

  it.each(cases)('%s', async (_, files, args, message) => {
    const folder = await folderWith(files);
    const before = await readdir(folder);
    const wanted = ['--json', '@report.json', '--predictions', '@predictions.ndjson'];
    const call = [...args, ...(args.includes('--json') ? [] : wanted)].map((arg) => arg.replace('@', `${folder}/`));
    // An output that cannot be written is noticed after the figures are printed.
    jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    const failed = run(call);
    await expect(failed).rejects.toThrow(message);
    await expect(failed).rejects.toMatchObject({
      name: expect.stringMatching(/^(Scenedelta|Commander)Error$/),
    });
    expect(await readdir(folder)).toEqual(before);
  });

  it('prints the figures even if the JSON file cannot be written', async () => {
    const folder = await folderWith(standard);
    const printed = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    const files = ['pairs.ndjson', '--from-predictions', 'said.ndjson', '--json', 'no/report.json'];
    const call = files.map((arg) => (arg.startsWith('--') ? arg : join(folder, arg)));
    await expect(run(call)).rejects.toThrow('cannot be written');
    expect(printed.mock.calls.join('')).toContain('2 pairs, 1 changed, 1 unchanged');
  });

  it('a truncated frame', async () => {
    const folder = await folderWith(standard);
    const intact = await readFile(join(folder, 'van.png'));
    await writeFile(join(folder, 'van.png'), intact.subarray(0, intact.length - 40));
    const call = ['pairs.ndjson', 'said.ndjson'].map((name) => join(folder, name));
    await expect(run([call[0] as string, '--from-predictions', call[1] as string])).rejects.toThrow(
      /pairs\.ndjson:1: after: the image is damaged/,
    );
  });
});
