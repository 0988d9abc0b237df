/** Damaged frames of a video by the log of ffmpeg. */
import { DamageWatch } from '../../src/footage/video/damage.js';

const EVERY_FRAME = { step: null, keyFrames: false, phase: 0 };

it('takes the frames before the place where a Matroska file was cut for whole, and those behind an error not', () => {
  const watch = new DamageWatch({ sampling: EVERY_FRAME, info: { keyFrameSeconds: null } });
  watch.line('[matroska,webm @ 0x5585aa8bc840] File ended prematurely');
  expect(watch.frame(1)).toBeNull();
  watch.line('[h264 @ 0x5585aa8bc840] error while decoding MB 3 4');
  expect([watch.frame(2), watch.frame(9)]).toEqual([expect.stringContaining('error while'), expect.anything()]);
});

it('takes zeros behind the end of a transport stream for no damage', () => {
  const watch = new DamageWatch({ sampling: EVERY_FRAME, info: { keyFrameSeconds: null } });
  watch.line('[mpegts @ 0x56452177d680] max resync size reached, could not find sync byte');
  expect([watch.frame(1), watch.frame(9)]).toEqual([null, null]);
});

it('reports a lost packet at its place, not where the demuxer first read it', () => {
  const watch = new DamageWatch({ sampling: EVERY_FRAME, info: { keyFrameSeconds: null } });
  const lost = '[mpegts @ 0x557839482880] Packet corrupt (stream = 0, dts = 837000).';
  watch.line(lost);
  expect(watch.frame(0)).toBeNull();
  watch.line(lost);
  expect(watch.frame(8)).toContain('Packet corrupt');
});
