/** `scenedelta rounds` against a service of its own: which pictures are compared, how often, and with which report. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { lookAtRounds } from '../../clients/src/rounds/look.js';
import { checkRound, latestDay } from '../../clients/src/rounds/times.js';
import { serviceAt } from '../../clients/src/service.js';
import { type Receiver, startReceiver } from '../helpers/receiver.js';

jest.setTimeout(60_000);

const MORNING = Date.UTC(2026, 5, 2, 7);
const EVENING = Date.UTC(2026, 5, 1, 16, 50);
const MINUTE = 60_000;
const GIVEN = { camera: 'gate', name: 'morning', at: '07:00', with: '16:50 yesterday' };
const ROUND = checkRound(GIVEN, 'round');

interface Frame {
  readonly id: string;
  readonly at: number;
  readonly fields?: object;
}
let service: Receiver;
let frames: Frame[];
/** status and body of the answer to a pair */
let answer: [number, object];
let gone: string[];
let printed: string[];
let done: Set<string>;
beforeEach(async () => {
  [frames, gone, printed, done] = [[], [], [], new Set()];
  answer = [200, { id: 'cmp_pair', caption: 'a van has appeared' }];
  service = await startReceiver(({ method, path }, response) => {
    const json = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (method === 'POST') return json(...answer);
    const id = /^\/v1\/comparisons\/(\w+)\/frames\/after$/.exec(path)?.[1];
    if (id !== undefined) return gone.includes(id) ? json(410, { title: 'gone' }) : response.end(`picture ${id}`);
    const query = new URL(path, 'http://h').searchParams;
    const [since, until] = ['since', 'until'].map((name) => Date.parse(query.get(name) ?? ''));
    const items = frames
      .filter(({ at }) => at >= Number(since) && at < Number(until))
      .map(({ id: of, at, fields }) => ({
        ...{ id: of, status: 'finished', verdict: 'none' },
        camera_frame: { captured_at: new Date(at).toISOString(), notes: [] },
        ...fields,
      }));
    // One item a page.
    const page = Number(query.get('cursor') ?? 0);
    json(200, { items: items.slice(page, page + 1), next_cursor: page + 1 < items.length ? String(page + 1) : null });
  });
});
afterEach(() => service.close());

const look = (now: number) =>
  lookAtRounds([ROUND], {
    ...{ service: serviceAt(service.url, 'Bearer key'), clock: () => now, done },
    print: (line) => void printed.push(line),
  });
const pairs = () => service.received.filter(({ method }) => method === 'POST');

describe('a round', () => {
  it('posts the usable pictures nearest to both times as a pair of the camera, once', async () => {
    frames = [
      { id: 'e1', at: EVENING - MINUTE },
      { id: 'e2', at: EVENING + 20 * MINUTE },
      { id: 'm1', at: MORNING - MINUTE },
      { id: 'm2', at: MORNING + 1_000, fields: { verdict: 'tamper' } },
    ];
    await look(MORNING + MINUTE);
    expect(pairs()).toEqual([]);
    await look(MORNING + 4 * MINUTE);
    await look(MORNING + 5 * MINUTE);
    const [pair, ...others] = pairs();
    expect(others).toEqual([]);
    expect(pair?.headers).toMatchObject({
      authorization: 'Bearer key',
      'idempotency-key': 'round/gate/morning/2026-06-02',
    });
    expect(pair?.body).toMatch(/name="before".*picture e1.*name="after".*picture m1.*name="camera"\s+gate/s);
    expect(JSON.parse(/\{"round".*\}/.exec(pair?.body ?? '')?.[0] ?? '')).toEqual({
      round: {
        ...{ name: 'morning', day: '2026-06-02', at: '07:00', with: '16:50 yesterday', tz: 'UTC' },
        captured_at: { before: '2026-06-01T16:49:00.000Z', after: '2026-06-02T06:59:00.000Z' },
      },
    });
    expect(printed).toEqual([
      '2026-06-02 gate morning: between 2026-06-01 16:49 UTC and 2026-06-02 06:59 UTC (cmp_pair): a van has appeared',
    ]);
  });

  it('takes the next picture if the nearest one is not stored any more', async () => {
    frames = [
      { id: 'e1', at: EVENING },
      { id: 'm1', at: MORNING },
      { id: 'm2', at: MORNING + 1_000 },
    ];
    gone = ['m1'];
    await look(MORNING + 4 * MINUTE);
    expect(pairs()[0]?.body).toContain('picture m2');
  });

  it('waits for an hour for a picture that is farther away, then names the time without one', async () => {
    frames = [{ id: 'e1', at: EVENING + 30 * MINUTE }];
    await look(MORNING + 10 * MINUTE);
    expect(printed).toEqual([]);
    await look(MORNING + 62 * MINUTE);
    expect(printed).toEqual(['2026-06-02 gate morning: no picture within 60 min of 2026-06-02 07:00 UTC']);
    expect(pairs()).toEqual([]);
  });

  it('says what there was if no picture is usable', async () => {
    frames = [
      { id: 'e1', at: EVENING },
      { id: 'm1', at: MORNING, fields: { verdict: 'tamper' } },
      { id: 'm2', at: MORNING + 1_000, fields: { lost: { side: 'after' } } },
    ];
    await look(MORNING + 62 * MINUTE);
    expect(printed).toEqual([
      '2026-06-02 gate morning: 2 pictures, none usable (1 tampered, dark or of another view, 1 damaged) ' +
        'within 60 min of 2026-06-02 07:00 UTC',
    ]);
  });

  it('is made up for after the client was away, but not for longer than half a day', async () => {
    frames = [
      { id: 'e1', at: EVENING },
      { id: 'm1', at: MORNING },
    ];
    await look(MORNING + 13 * 60 * MINUTE);
    expect(pairs()).toEqual([]);
    await look(MORNING + 11 * 60 * MINUTE);
    expect(pairs()).toHaveLength(1);
  });

  it('that the service refuses is reported once; one that it cannot take now stays due', async () => {
    frames = [
      { id: 'e1', at: EVENING },
      { id: 'm1', at: MORNING },
    ];
    answer = [503, { title: 'Too much work is waiting' }];
    await expect(look(MORNING + 4 * MINUTE)).rejects.toMatchObject({ kind: 'unavailable' });
    answer = [422, { title: 'The two frames do not have the same aspect ratio' }];
    await look(MORNING + 5 * MINUTE);
    await look(MORNING + 6 * MINUTE);
    expect(printed).toEqual([
      expect.stringContaining('422: The two frames do not have the same aspect ratio; between'),
    ]);
  });
});

describe('the times of a round', () => {
  const berlin = (fields: object) => checkRound({ ...GIVEN, tz: 'Europe/Berlin', ...fields }, 'round');

  it('follow the clock of the zone over its change', () => {
    // The clock went forward on 29 March 2026.
    const found = latestDay(berlin({ at: '07:00', with: '16:50 yesterday' }), Date.UTC(2026, 2, 29, 12));
    expect(found).toEqual({ day: '2026-03-29', at: Date.UTC(2026, 2, 29, 5), with: Date.UTC(2026, 2, 28, 15, 50) });
  });

  it('of an hour that comes twice are those of the first, of one that is skipped those after it', () => {
    const twice = latestDay(berlin({ at: '02:30', with: '01:00' }), Date.UTC(2026, 9, 25, 12));
    expect(new Date(twice?.at ?? 0).toISOString()).toBe('2026-10-25T00:30:00.000Z');
    const skipped = latestDay(berlin({ at: '02:30', with: '01:00' }), Date.UTC(2026, 2, 29, 12));
    expect(new Date(skipped?.at ?? 0).toISOString()).toBe('2026-03-29T01:30:00.000Z');
  });

  it('are of the days that are named', () => {
    // 2 June 2026 is a Tuesday.
    expect(latestDay(berlin({ days: ['mon'] }), MORNING + 6 * 60 * MINUTE)?.day).toBe('2026-06-01');
  });

  it.each([
    [{ at: '7' }, /^round\/at: /],
    [{ days: ['someday'] }, /^round\/days\/0: /],
    [{ with: '09:00' }, 'round/with: 09:00, expected a time before 07:00, or one with " yesterday"'],
    [{ tz: 'Mars/Base' }, 'round/tz: "Mars/Base", expected an IANA time zone such as Europe/Berlin'],
  ])('%j are refused', (fields, message) => {
    expect(() => checkRound({ ...GIVEN, ...fields }, 'round')).toThrow(message);
  });
});

describe('scenedelta rounds', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sd-rounds-'));
  });
  afterEach(() => rm(folder, { recursive: true }));
  const run = (...args: string[]): Promise<{ status: unknown; stdout: string; stderr: string }> =>
    new Promise((ended) => {
      const argv = [resolve('dist/cli/main.js'), 'rounds', '--api', service.url, ...args];
      const env = { ...process.env, DATA_DIR: folder };
      execFile(process.execPath, argv, { env, cwd: folder }, (error, stdout, stderr) =>
        ended({ status: error === null ? 0 : error.code, stdout, stderr }),
      );
    });

  it('reads rounds from a file, and looks at them once', async () => {
    await writeFile(join(folder, 'rounds.yaml'), '- { camera: gate, name: m, at: "00:01", with: "00:00 yesterday" }\n');
    expect(await run('--config', 'rounds.yaml', '--once')).toMatchObject({ status: 0, stderr: '' });
  });

  it.each([
    [['--camera', 'gate', '--at', '07:00'], '--with is missing, expected --config, or --camera, --at and --with'],
    [['--config', 'none.yaml'], 'none.yaml: cannot be read (ENOENT)'],
    [['--config', 'rounds.yaml'], 'rounds.yaml/0/at: '],
  ])('%j is refused in one line', async (args, message) => {
    await writeFile(join(folder, 'rounds.yaml'), '- { camera: gate, name: m, at: "7", with: "06:00" }\n');
    const { status, stderr } = await run(...args);
    expect([status, stderr.trim().split('\n')]).toEqual([2, [expect.stringContaining(message)]]);
  });
});
