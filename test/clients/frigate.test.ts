/** `scenedelta companion frigate` against a recorder of its own. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Failure } from '../../clients/src/failure.js';
import { compareBy } from '../../clients/src/frigate/compare.js';
import { lookOnce } from '../../clients/src/frigate/look.js';
import type { Progress } from '../../clients/src/frigate/progress-file.js';
import { createRecorder } from '../../clients/src/frigate/recorder.js';
import { serviceAt } from '../../clients/src/service.js';
import { startReceiver } from '../helpers/receiver.js';
import { type FakeRecorder, startRecorder } from '../helpers/recorder.js';

jest.setTimeout(120_000);

let recorder: FakeRecorder;
let folder: string;
let printed: string[];
let compared: string[];
let saved: Progress[];
let now: number;
let compareFails: Failure | undefined;
beforeEach(async () => {
  recorder = await startRecorder();
  recorder.state.frame = (camera, at) => Buffer.from(`${camera}@${at}`);
  folder = await mkdtemp(join(tmpdir(), 'sd-companion-'));
  [printed, compared, saved, now, compareFails] = [[], [], [], 2_000, undefined];
});
afterEach(async () => {
  await recorder.close();
  await rm(folder, { recursive: true });
});

const BEGIN: Progress = { v: 1, after: 0, handled: {} };
interface Change {
  cameras?: string[];
  dryRun?: boolean;
  timeoutMs?: number;
}
/** The default time is that of a busy machine. */
const look = (from: Progress = saved.at(-1) ?? BEGIN, change: Change = {}) =>
  lookOnce(
    from,
    { cameras: [], gapSeconds: 5, dryRun: false, ...change },
    {
      recorder: createRecorder(recorder.url, {
        token: 'geheim',
        timeoutMs: change.timeoutMs ?? 30_000,
        frameLimit: 1_000,
      }),
      async compare(before, after) {
        if (compareFails) throw compareFails;
        compared.push(`${Buffer.from(before)} ${Buffer.from(after)}`);
        return 'a box has appeared';
      },
      pace: async () => {},
      now: () => now,
      print: (line) => void printed.push(line),
      save: async (progress) => void saved.push(progress),
      signal: new AbortController().signal,
    },
  );
const SENTENCE = 'a box has appeared (scenedelta)';

describe('a look at the events of a recorder', () => {
  it('compares the frame before each event with the frame after it, and writes the sentence with its mark', async () => {
    recorder.add('1.0-abc', 1_000);
    recorder.add('2.0-def/../x', 1_100, { camera: 'yard' });
    await look();
    expect(compared).toEqual(['gate@995 gate@1015', 'yard@1095 yard@1115']);
    expect(recorder.descriptions()).toEqual({ '1.0-abc': SENTENCE, '2.0-def/../x': SENTENCE });
    expect(printed).toEqual(['gate 1.0-abc: a box has appeared', 'yard 2.0-def/../x: a box has appeared']);
    for (const { headers } of recorder.received) expect(headers.authorization).toBe('Bearer geheim');
  });

  it('leaves the text of a person alone, also one that was written meanwhile, and its own', async () => {
    recorder.add('text', 1_000, { data: { description: 'the postman' } });
    recorder.add('ours', 1_001, { data: { description: SENTENCE } });
    const late = recorder.add('late', 1_002);
    recorder.state.frame = () => {
      late.data = { description: 'mine' };
      return Buffer.from('frame');
    };
    await look();
    expect(recorder.descriptions()).toEqual({ text: 'the postman', ours: SENTENCE, late: 'mine' });
    expect(recorder.received.some(({ method }) => method === 'POST')).toBe(false);
    expect(printed).toEqual(['gate late: skipped: it has a description now']);
  });

  it('waits for the end of an event and for its recording, and compares each event once', async () => {
    const event = recorder.add('open', 1_500, { end_time: null });
    recorder.add('done', 1_600);
    await look();
    expect(recorder.descriptions()).toEqual({ done: SENTENCE });
    event.end_time = 1_990;
    await look();
    expect(compared).toHaveLength(1);
    now = 2_100;
    await look();
    await look();
    expect(compared).toEqual(['gate@1595 gate@1615', 'gate@1495 gate@1995']);
    expect(recorder.descriptions().open).toBe(SENTENCE);
    now = 9_000;
    expect(await look()).toMatchObject({ after: 8_400, handled: {} });
  });

  it('reads more than one page, and only the chosen cameras', async () => {
    // A text that an event has already costs no requests: two of every 23 events have none.
    const known = { data: { description: 'the postman' } };
    for (let i = 0; i < 230; i++) {
      recorder.add(`e${i}`, 1_000 + i / 10, { camera: i % 2 === 0 ? 'gate' : 'yard', ...(i % 23 < 2 ? {} : known) });
    }
    await look(BEGIN, { cameras: ['gate'] });
    expect(compared).toHaveLength(10);
    expect(new Set(compared.map((pair) => pair.split('@')[0]))).toEqual(new Set(['gate']));
  });

  it('writes nothing and keeps no state in a dry run', async () => {
    recorder.add('one', 1_000);
    await look(BEGIN, { dryRun: true });
    expect(printed).toEqual(['gate one: would be described: a box has appeared']);
    expect([recorder.descriptions(), saved]).toEqual([{ one: undefined }, []]);
  });

  it('skips an event without recordings after ten minutes, and one whose frames cannot be compared', async () => {
    recorder.add('gone', 1_000);
    recorder.state.frame = (_camera, at) => (at < 1_000 ? null : Buffer.from('frame'));
    now = 1_500;
    await look();
    expect(printed).toEqual([]);
    now = 2_000;
    await look();
    expect(printed).toEqual(['gate gone: skipped: there is no recording before it']);
    recorder.add('bad', 1_500);
    compareFails = new Failure('refused', 'before is no image');
    await look();
    expect(printed.at(-1)).toBe('gate bad: skipped: before is no image');
  });

  it('goes on after a stop between two events, and after an error of the comparer', async () => {
    recorder.add('first', 1_000);
    recorder.add('second', 1_100);
    recorder.state.fault = ({ path }) => {
      if (path.includes('1095')) compareFails = new Failure('unavailable', 'the API is away');
      return false;
    };
    await expect(look()).rejects.toThrow('the API is away');
    expect(saved.at(-1)?.handled).toEqual({ first: 1_000 });
    recorder.state.fault = () => false;
    compareFails = undefined;
    await look();
    expect(compared).toEqual(['gate@995 gate@1015', 'gate@1095 gate@1115']);
  });
});

describe('a recorder that', () => {
  it.each([
    ['answers text', 200, 'hello', /expected JSON/],
    ['answers another shape', 200, '{"events":[]}', /expected a list of events/],
    ['asks for a login', 401, '{}', /answered 401, expected 200: set FRIGATE_TOKEN/],
    ['fails', 500, '{}', /answered 500, expected 200$/],
    ['redirects', 302, '', /answered 302, expected 200$/],
  ])('%s is reported with what was expected', async (_what, status, body, message) => {
    recorder.state.fault = (_request, response) => {
      response.writeHead(status, { location: 'http://127.0.0.1:9/' }).end(body);
      return true;
    };
    await expect(look()).rejects.toThrow(message);
  });

  it('hangs is given up at the timeout', async () => {
    recorder.state.fault = () => true;
    await expect(look(BEGIN, { timeoutMs: 500 })).rejects.toThrow(/did not answer within 500 ms/);
  });

  it('is not there is reported', async () => {
    await recorder.close();
    await expect(look()).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('REFUSED'),
    });
  });

  it('lists some events that cannot be read gets sentences on the others', async () => {
    recorder.add('good', 1_000);
    recorder.events.push({ id: 7, camera: null } as never);
    recorder.events.push({ id: 'no-time', camera: 'gate', start_time: 'noon' } as never);
    recorder.state.fault = ({ path }, response) => {
      if (!path.startsWith('/api/events?')) return false;
      response.end(JSON.stringify(recorder.events));
      return true;
    };
    await look();
    expect(printed).toEqual(['2 events that the recorder lists cannot be read', 'gate good: a box has appeared']);
  });

  it('fails for one frame, or sends one that is too large, gets sentences on the other events', async () => {
    for (const [i, id] of ['fails', 'large', 'good'].entries()) recorder.add(id, 1_000 + 100 * i);
    recorder.state.fault = ({ path }, response) => {
      if (path.includes('/995.000/')) response.writeHead(500).end();
      else if (path.includes('/1095.000/')) response.end(Buffer.alloc(2_000));
      else return false;
      return true;
    };
    await look();
    expect(printed).toEqual([
      expect.stringMatching(/^gate fails: tried again later: .*answered 500, expected 200$/),
      expect.stringMatching(/^gate large: skipped: .*more than 1000 bytes$/),
      'gate good: a box has appeared',
    ]);
    recorder.state.fault = () => false;
    await look();
    expect(recorder.descriptions()).toEqual({ fails: SENTENCE, large: undefined, good: SENTENCE });
  });
});

describe('the service', () => {
  it.each([
    [200, { caption: 'a box has appeared' }, 'a box has appeared'],
    [202, { status: 'queued' }, 'unavailable'],
    [401, { detail: 'no key' }, 'unauthorized'],
    [422, { detail: 'no image' }, 'refused'],
    [503, { detail: 'overloaded' }, 'unavailable'],
  ])('that answers %i gives %j as %s', async (status, body, expected) => {
    const api = await startReceiver((_request, response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    );
    const frame = Buffer.from('frame');
    const outcome = await compareBy(serviceAt(api.url, 'Bearer key'), frame, frame).catch(({ kind }: Failure) => kind);
    await api.close();
    expect(outcome).toBe(expected);
    expect(api.received[0]?.headers).toMatchObject({ authorization: 'Bearer key', prefer: 'wait=60' });
    expect(String(api.received[0]?.headers['content-type'])).toMatch(/^multipart\/form-data/);
  });
});

describe('scenedelta companion frigate', () => {
  const companion = (...args: string[]): Promise<{ status: unknown; stdout: string; stderr: string }> =>
    new Promise((done) => {
      const env = { ...process.env, DATA_DIR: folder };
      const argv = [resolve('dist/cli/main.js'), 'companion', 'frigate', ...args];
      execFile(process.execPath, argv, { env, cwd: folder }, (error, stdout, stderr) =>
        done({ status: error === null ? 0 : error.code, stdout, stderr }),
      );
    });

  it('describes an event with the sentence of the service, and keeps its state in a file', async () => {
    const api = await startReceiver((_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"caption":"a box has appeared"}'),
    );
    const at = Date.now() / 1000 - 300;
    recorder.add('1.0-abc', at);
    const first = await companion('--url', recorder.url, '--api', api.url, '--once');
    expect(first).toMatchObject({ status: 0, stderr: '' });
    expect(recorder.descriptions()['1.0-abc']).toBe(SENTENCE);
    expect(JSON.parse(await readFile(join(folder, 'frigate-companion.json'), 'utf8')).handled).toEqual({
      '1.0-abc': at,
    });
    expect((await companion('--url', recorder.url, '--api', api.url, '--once')).stdout).toBe('');
    expect(api.received).toHaveLength(1);
    await api.close();
  });

  it('prints names of the recorder without codes that steer a terminal', async () => {
    recorder.add('1.0-\x1b[2J', Date.now() / 1000 - 1_000, { camera: '\x1b]0;x\x07gate' });
    recorder.state.frame = () => null;
    const { stdout, stderr } = await companion('--url', recorder.url, '--once');
    expect(stdout).toContain('\ufffd]0;x\ufffdgate 1.0-\ufffd[2J: skipped');
    expect(`${stdout}${stderr}`).not.toMatch(/(?!\n)\p{Cc}/u);
  });

  it.each([
    [['--once'], "required option '--url <url>' not specified"],
    [['--url', 'http://h', '--model', 'x'], '--model is gone: the service compares'],
    [['--url', 'gate'], '--url "gate": expected the address of the recorder'],
    [['--url', 'http://h', '--per-minute', 'many'], '--per-minute "many": expected a number above 0'],
    [['--url', 'http://h', '--state', 'other.json'], 'other.json: expected the state of an earlier run'],
  ])('%j is refused in one line', async (args, message) => {
    await writeFile(join(folder, 'other.json'), '{"v":2}');
    const { status, stderr } = await companion(...args);
    expect([status, stderr.trim().split('\n')]).toEqual([2, [expect.stringContaining(message)]]);
  });
});
