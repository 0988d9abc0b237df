/** Damaged frames of a video by the log of ffmpeg. */
import { DamageWatch } from '../../src/footage/video/damage.js';
import { DamageLines } from '../../src/footage/video/damage-lines.js';

const EVERY_FRAME = { step: null, keyFrames: false, phase: 0 };

it('takes the frames before an error for whole, and those behind it not', () => {
  const watch = new DamageWatch({ sampling: EVERY_FRAME, info: { keyFrameSeconds: null } });
  expect(watch.frame(1)).toBeNull();
  watch.line('[h264 @ 0x5585aa8bc840] error while decoding MB 3 4');
  expect([watch.frame(2), watch.frame(9)]).toEqual([expect.stringContaining('error while'), expect.anything()]);
});

const LOST = '[mpegts @ 0x557839482880] [warning] Packet corrupt (stream = 0, dts = 837000).';
/** @param joins decoding times of the packets behind which another file begins */
async function damageIn(lines: readonly string[], joins: readonly number[] = []): Promise<string[]> {
  const log = new DamageLines(async () => ({ isBehind: (dts) => joins.includes(dts) }));
  const damage: string[] = [];
  for (const line of lines) if (await log.isDamage(line)) damage.push(line);
  return damage;
}

it.each([
  ['the place where a Matroska file was cut', '[matroska,webm @ 0x5585aa8bc840] [error] File ended prematurely'],
  ['zeros behind the end', '[mpegts @ 0x56452177d680] [error] max resync size reached, could not find sync byte'],
  ['what a decoder says about references', '[h264 @ 0x55a13335ee80] [error] co located POCs unavailable'],
])('takes %s for no damage', async (_what, line) => {
  expect(await damageIn([line])).toEqual([]);
});

it('reports a lost packet once and at its place, not where the demuxer first read it', async () => {
  const opened = "[info] Input #0, mpegts, from 'yard.ts':";
  expect(await damageIn([LOST, opened])).toEqual([]);
  expect(await damageIn([LOST, opened, LOST, '[warning] yard.ts: corrupt input packet in stream 0'])).toEqual([LOST]);
});

it('takes the packet before an appended file for whole', async () => {
  const opened = "[info] Input #0, mpegts, from 'yard.ts':";
  expect(await damageIn([opened, LOST], [837_000])).toEqual([]);
  expect(await damageIn([opened, LOST], [567_000])).toEqual([LOST]);
});
