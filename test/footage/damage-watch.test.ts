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
