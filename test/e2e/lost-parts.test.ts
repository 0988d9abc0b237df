/** Frames of which the camera or the decoder lost a part, through the service: as pairs, and between whole frames. */
import sharp from 'sharp';
import { seededRandom } from '../../src/base/random.js';
import type { Change } from '../../src/schemas/change.js';
import type { Comparison } from '../../src/schemas/comparison.js';
import { answerOf, get, post, useService } from '../helpers/service.js';

const used = useService();
const [WIDTH, HEIGHT] = [480, 360];
const ROW = WIDTH * 3;

type Rectangle = readonly [
  x: number,
  y: number,
  width: number,
  height: number,
  red: number,
  green: number,
  blue: number,
];
/** Ground, sky, a wall with windows, a gate, a lawn, lines and barrels. */
const YARD: readonly Rectangle[] = [
  [0, 0, 480, 360, 106, 106, 104],
  [0, 0, 480, 130, 150, 156, 160],
  [30, 20, 250, 130, 142, 92, 74],
  ...[45, 92, 139, 186, 233].map((x): Rectangle => [x, 40, 30, 40, 52, 60, 72]),
  [310, 60, 140, 95, 120, 124, 128],
  [0, 220, 130, 140, 84, 112, 62],
  ...[250, 300, 350].map((x): Rectangle => [x, 170, 4, 190, 205, 205, 200]),
  ...[150, 190, 420].map((x): Rectangle => [x, 315, 30, 30, 40, 60, 110]),
];
/** A thing in the lower half. */
const CRATE: Rectangle = [370, 230, 70, 80, 255, 150, 150];

/** @param seed of the noise of the sensor @returns levels of red, green and blue */
function yard(seed: number, things: readonly Rectangle[] = []): Buffer {
  const random = seededRandom(`noise ${seed}`);
  const data = Buffer.alloc(HEIGHT * ROW);
  for (const [left, top, width, height, ...colour] of [...YARD, ...things]) {
    for (let y = top; y < top + height; y++) {
      for (let x = left; x < left + width; x++) data.set(colour, y * ROW + x * 3);
    }
  }
  return data.map((level) => Math.max(0, Math.min(255, level + 2 * random.normal()))) as Buffer;
}
const jpeg = (data: Buffer, [width, height] = [WIDTH, HEIGHT]) =>
  sharp(data, { raw: { width: width as number, height: height as number, channels: 3 } })
    .jpeg({ quality: 88 })
    .toBuffer();

const GREY = [128, 128, 128];
const GREEN = [0, 135, 0];
const BLACK = [0, 0, 0];
/** @param lost share of the frame, from below */
const filled = (data: Buffer, colour: readonly number[], lost: number): Buffer => {
  const copy = Buffer.from(data);
  for (let at = Math.floor(HEIGHT * (1 - lost)) * ROW; at < copy.length; at += 3) copy.set(colour, at);
  return copy;
};
const smeared = (data: Buffer, lost: number): Buffer => {
  const copy = Buffer.from(data);
  const last = Math.floor(HEIGHT * (1 - lost)) * ROW;
  for (let at = last; at < copy.length; at += ROW) copy.copyWithin(at, last - ROW, last);
  return copy;
};
/** Blocks of the lower half show other places. */
function displaced(data: Buffer, seed: number): Buffer {
  const copy = Buffer.from(data);
  const random = seededRandom(`blocks ${seed}`);
  const drawn = (from: number, to: number) => Math.floor(random.uniform(from, to)) * 16;
  for (let n = 0; n < 260; n++) {
    const [x, y, fromX, fromY] = [drawn(0, 30), drawn(11, 22), drawn(0, 30), drawn(0, 22)];
    for (let line = 0; line < 16; line++) {
      const from = (fromY + line) * ROW + fromX * 3;
      data.copy(copy, (y + line) * ROW + x * 3, from, from + 48);
    }
  }
  return copy;
}
/** A recorder's card with a bar in place of its text. */
function card(colour: readonly number[], [width, height] = [WIDTH, HEIGHT]): Promise<Buffer> {
  const data = Buffer.alloc(width * height * 3);
  for (let at = 0; at < data.length; at += 3) data.set(colour, at);
  for (let y = 176; y < 184; y++) data.fill(255, (y * width + 180) * 3, (y * width + 260) * 3);
  return jpeg(data, [width, height]);
}

describe('a pair whose second frame lost a part', () => {
  const cases = Object.entries({ grey: GREY, green: GREEN, black: BLACK }).flatMap(([name, colour]) =>
    [0.25, 0.5, 0.75].flatMap((lost) => ['nothing', 'a crate'].map((there) => [name, lost, there, colour] as const)),
  );
  it.each(cases)('to %s, %d of it, is called so (%s there)', async (_name, lost, there, colour) => {
    const things = there === 'nothing' ? [] : [CRATE];
    const before = await jpeg(yard(1, things));
    const after = await jpeg(filled(yard(2, things), colour, lost));
    const { status, body } = await post(used.service, { before, after });
    expect(status).toBe(200);
    expect(body).toMatchObject({ verdict: 'tamper', lost: { side: 'after', reason: 'signal_lost' } });
    expect(body.lost.share).toBeCloseTo(lost, 1);
  });
});

describe.each(['previous', 'memory'])('a camera with before: %s', (before) => {
  const send = async (camera: string, second: number, bytes: Buffer): Promise<Comparison> => {
    const at = new Date(Date.now() - 1_800_000 + 1000 * second).toISOString();
    const response = await fetch(`${used.service.url}/v1/cameras/${camera}/frames?captured_at=${at}`, {
      method: 'POST',
      body: new Uint8Array(bytes),
      headers: { ...used.service.headers, 'content-type': 'image/jpeg', prefer: 'wait=30' },
    });
    const { status, body } = await answerOf(response);
    expect([status, body]).toEqual([200, expect.objectContaining({ status: 'finished' })]);
    return body;
  };
  /** @returns what three whole frames, then damaged ones and then whole ones with things in them cause */
  async function outage(camera: string, frames: readonly Buffer[], things: readonly Rectangle[] = []) {
    const settings = JSON.stringify({ before });
    const headers = { ...used.service.headers, 'content-type': 'application/json' };
    const made = await fetch(`${used.service.url}/v1/cameras/${camera}`, { method: 'PUT', headers, body: settings });
    expect(made.status).toBe(201);
    const wholeFrame = (seed: number) => jpeg(yard(seed, seed < 10 ? [] : things));
    const sent = [await wholeFrame(1), await wholeFrame(2), await wholeFrame(3), ...frames];
    for (let i = 0; i < 3; i++) sent.push(await wholeFrame(10 + i));
    const answers: Comparison[] = [];
    for (const [second, bytes] of sent.entries()) answers.push(await send(camera, second, bytes));
    const { body } = await get(used.service, `/v1/changes?camera=${camera}`);
    const opened = (body.items as Change[]).filter(({ kind }) => kind !== 'tamper');
    return { opened, damaged: answers.slice(3, -3), after: answers.slice(-3) };
  }

  const three = (make: (data: Buffer, i: number) => Buffer, things: readonly Rectangle[] = []) =>
    Promise.all([4, 5, 6].map((seed) => jpeg(make(yard(seed, things), seed))));
  it.each<[string, () => Promise<Buffer[]>]>([
    ['green-half', () => three((data) => filled(data, GREEN, 0.5))],
    ['grey-half', () => three((data) => filled(data, GREY, 0.5))],
    ['pink-half', () => three((data) => filled(data, [255, 90, 200], 0.5))],
    ['green-strip', () => three((data) => filled(data, GREEN, 1 / 8))],
    ['green-whole', () => three((data) => filled(data, GREEN, 1))],
    ['smear-half', () => three((data) => smeared(data, 0.5))],
    ['smear-quarter', () => three((data) => smeared(data, 0.25))],
    ['blocks', () => three(displaced)],
    ['no-signal-blue', () => Promise.all([card([0, 0, 160]), card([0, 0, 161]), card([0, 0, 162])])],
    ['no-signal-16-9', () => Promise.all([40, 41, 42].map((level) => card([level, level, level], [640, 360])))],
  ])('names the loss and opens nothing but tampering: %s', async (name, frames) => {
    const { opened, damaged, after } = await outage(`${name}-${before}`, await frames());
    expect(opened).toEqual([]);
    const reason = /smear|blocks/.test(name) ? 'picture_damaged' : 'signal_lost';
    expect(damaged.map(({ lost }) => lost?.reason)).toEqual([reason, reason, reason]);
    expect(after.at(-1)?.verdict).toBe('none');
  });

  it('reports afterwards what came in the lost part', async () => {
    const frames = await three((data) => filled(data, GREY, 0.5), [CRATE]);
    const { opened, damaged } = await outage(`came-${before}`, frames, [CRATE]);
    expect(damaged.map(({ regions }) => regions)).toEqual([[], [], []]);
    expect(opened).toMatchObject([{ kind: 'appear' }]);
  });
});
