/** JSON bodies of many brackets, keys or values, which are refused before they are parsed. */
import { assertStructure, BODY_STRUCTURE, CAMERA_STRUCTURE } from '../../src/api/json-structure.js';
import { JSON_TYPE } from '../helpers/camera-api.js';
import { fakeApp } from '../helpers/fake-app.js';
import { form, jpeg, post } from '../helpers/requests.js';

const SIZE = 4_000_000;
const keys = (count: number) => Array.from({ length: count }, (_, i) => `"k${i}":1`).join(',');
const HOSTILE = {
  'nested brackets': '['.repeat(SIZE / 2) + ']'.repeat(SIZE / 2),
  'nested brackets in a member': `{"metadata":${'['.repeat(SIZE / 2)}${']'.repeat(SIZE / 2)}}`,
  'unclosed brackets': '{"a":['.repeat(SIZE / 6),
  '330,000 members': `{${keys(330_000)}}`,
  '330,000 members in a member': `{"metadata":{${keys(330_000)}}}`,
  'two million items': `{"metadata":[${'1,'.repeat(SIZE / 2)}1]}`,
};
const milliseconds = async (run: () => unknown) => {
  const start = performance.now();
  await run();
  return performance.now() - start;
};

describe('assertStructure', () => {
  const check = (json: string) => assertStructure(Buffer.from(json), { depth: 2, members: 2, values: 6 }, 'It');

  it.each(['[[1,2,3,4]]', '{"a":{"b":1,"c":2}}', '{"a,:[{":"[{\\"]},:"}', '"[[[["', '"\\\\"', '7', '', ']]]', '{"a'])(
    'accepts %s',
    (json) => expect(() => check(json)).not.toThrow(),
  );

  it.each([
    ['[[[', 'more than 2 levels of nesting (at byte 3 of 3), expected at most 2'],
    ['{"a":1,"b":2,"c":3}', 'more than 2 members in one object (at byte 17 of 19), expected at most 2'],
    ['[1,2,3,4,5,6,7]', 'more than 6 values (at byte 13 of 15), expected at most 6'],
    ['["\\\\",[[', 'more than 2 levels of nesting'],
  ])('refuses %s', (json, detail) => expect(() => check(json)).toThrow(`It has ${detail}`));

  it('counts no character of a string', () => {
    const text = JSON.stringify({ before: '[{,:"\\'.repeat(10_000) });
    expect(() => assertStructure(Buffer.from(text), BODY_STRUCTURE, 'It')).not.toThrow();
  });
});

describe('A JSON body of much structure', () => {
  let fake: Awaited<ReturnType<typeof fakeApp>>;
  beforeAll(async () => {
    fake = await fakeApp();
  });
  beforeEach(() => fake.reset());
  afterAll(() => fake.app.close());

  const routes = [
    ['POST', '/v1/comparisons'],
    ['PUT', '/v1/cameras/gate'],
    ['POST', '/v1/changes/chg_01k9x3v5s8q2m7c4w6n1b0t9hz/feedback'],
  ] as const;
  const cases = Object.entries(HOSTILE).flatMap(([name, body]) =>
    routes.map(([method, url]) => [name, method, url, body] as const),
  );

  it.each(cases)('%s: %s %s answers 413 within its first tenth', async (_name, method, url, payload) => {
    const answer = await fake.inject({ method, url, payload, headers: JSON_TYPE });
    expect(answer.statusCode).toBe(413);
    expect(answer.json()).toMatchObject({
      type: expect.stringMatching(/payload-too-large$/),
      detail: expect.stringMatching(
        /^The JSON body has more than \d+ (levels of nesting|members in one object|values) \(at byte \d+ of \d+\), expected at most \d+$/,
      ),
    });
    const [, read, size] = /at byte (\d+) of (\d+)/.exec(answer.json().detail) ?? [];
    expect(Number(read)).toBeLessThan(Number(size) / 10);
  });

  it('eight at once hold the event loop for less than one JSON.parse', async () => {
    const payload = HOSTILE['330,000 members'];
    const request = { method: 'PUT', url: '/v1/cameras/gate', payload, headers: JSON_TYPE } as const;
    const bare = await milliseconds(() => JSON.parse(payload));
    // The shortest of several rounds, because other processes of a busy machine lengthen single ones.
    let shortest = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 8 && shortest >= bare; round++) {
      const longest = await longestTurn(async () => {
        await Promise.all([...Array.from({ length: 8 }, () => fake.inject(request)), fake.inject({ url: '/livez' })]);
      });
      shortest = Math.min(shortest, longest);
    }
    expect(shortest).toBeLessThan(bare);
  });

  it('the largest camera settings that the schema allows are accepted', async () => {
    const angles = Array.from({ length: 64 }, (_, i) => (i / 32) * Math.PI);
    const zone = (id: number) => ({
      id: `z${id}`,
      name: 'zone',
      type: 'include',
      polygon: angles.map((a) => [0.5 + 0.4 * Math.cos(a), 0.5 + 0.4 * Math.sin(a)]),
      min_overlap: 0.5,
      min_area: 0.1,
      threshold: 0.5,
      severity: 'low',
    });
    const window = { days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '10:00', to: '11:00' };
    const windows = Array(32).fill(window);
    const rule = { zone: 'z1', kind: 'move', min_area: 0.1, during: windows, severity: 'low' };
    const settings = {
      zones: Array.from({ length: 64 }, (_, i) => zone(i)),
      schedule: { timezone: 'Europe/Berlin', windows },
      alerts: { severity_rules: Array(100).fill(rule) },
    };
    expect(() => assertStructure(Buffer.from(JSON.stringify(settings)), CAMERA_STRUCTURE, 'It')).not.toThrow();
    const answer = await fake.app.inject({ method: 'PUT', url: '/v1/cameras/gate', payload: settings });
    expect(answer.statusCode).toBe(201);
  });

  it('metadata of a form has the same limits, as text and as a part of the type JSON', async () => {
    const [before, after] = [await jpeg(10), await jpeg(200)];
    const nested = '['.repeat(1000) + ']'.repeat(1000);
    const answer = await fake.inject(post(form({ before, after, metadata: nested })));
    expect([answer.statusCode, answer.json().field]).toEqual([413, 'metadata']);

    const typed = (metadata: string) => {
      const { payload, headers } = form({ before, after, metadata });
      const name = 'name="metadata"\r\n';
      const text = payload.toString('latin1').replace(name, `${name}Content-Type: application/json\r\n`);
      return post({ payload: Buffer.from(text, 'latin1'), headers });
    };
    expect((await fake.inject(typed('{"ticket":7}'))).json().metadata).toEqual({ ticket: 7 });
    expect((await fake.inject(typed(nested))).statusCode).toBe(413);
    const long = await fake.inject(typed('[0]'.repeat(SIZE / 3)));
    expect([long.statusCode, long.json().detail]).toEqual([
      400,
      'metadata has more than 32768 characters, expected at most 32768',
    ]);
  });

  it('an answer is short although the names and values of the request are long', async () => {
    for (const body of [
      { ['k'.repeat(SIZE)]: 1 },
      Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`name-${i}`.repeat(100), 1])),
      { name: 'k'.repeat(SIZE) },
    ]) {
      const answer = await fake.inject({
        method: 'PUT',
        url: '/v1/cameras/gate',
        payload: JSON.stringify(body),
        headers: JSON_TYPE,
      });
      expect(answer.statusCode).toBe(400);
      expect(answer.body.length).toBeLessThan(2000);
    }
  });
});

/** @returns the longest time between two turns of the event loop while `run` runs, in ms */
async function longestTurn(run: () => Promise<void>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  let running = true;
  const turn = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (running) setImmediate(turn);
  };
  setImmediate(turn);
  await run();
  running = false;
  // The turn in which `run` ended counts too.
  return Math.max(longest, performance.now() - last);
}
