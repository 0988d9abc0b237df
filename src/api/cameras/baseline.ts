/** Orders that replace a camera's baseline. The turn of the camera's next frame carries them out. */
import type { Static } from 'typebox';
import { invalidValue, ScenedeltaError } from '../../base/errors.js';
import { type Size, sameAspectRatio } from '../../base/images.js';
import type { StoredCamera } from '../../camera/settings/camera.js';
import { lightOf, measureLight } from '../../camera/settings/light.js';
import type { BaselineEvent, CameraState } from '../../camera/state/state.js';
import type { IncomingFrame } from '../../frames/keep.js';
import { type CameraStore, noCamera } from '../../stores/cameras/cameras.js';
import type { BaselineOrderSchema } from '../schemas/camera-answers.js';
import { keepPicture, type PictureDependencies } from './picture.js';

type BaselineOrder = Static<typeof BaselineOrderSchema>;
interface Dependencies {
  readonly cameras: Pick<CameraStore, 'state' | 'orderBaseline'>;
}

/** @throws ScenedeltaError invalid-value if the camera has a chosen reference, not-found if it has been erased */
export async function resetBaseline(camera: StoredCamera, { cameras }: Dependencies): Promise<BaselineOrder> {
  return order(camera, { type: 'baseline.reset' }, await cameras.state(camera.id), cameras);
}

/**
 * @throws ScenedeltaError as resetBaseline and keepPicture; frames-differ-in-shape if the camera's frames have another
 *   aspect ratio
 */
export async function setBaseline(
  camera: StoredCamera,
  picture: IncomingFrame,
  deps: Dependencies & PictureDependencies,
): Promise<BaselineOrder> {
  assertNoReference(camera);
  const { ref, pixels } = await keepPicture(picture, camera, 'frame', deps);
  const state = await deps.cameras.state(camera.id);
  const size = { width: pixels.sourceWidth, height: pixels.sourceHeight };
  if (state?.size != null && !sameAspectRatio(size, state.size)) {
    throw new ScenedeltaError(
      'frames-differ-in-shape',
      `frame has ${pxOf(size)} and the camera's frames have ${pxOf(state.size)}, expected the same aspect ratio`,
      { field: 'frame' },
    );
  }
  const { width, height } = pixels;
  const light = lightOf(measureLight(pixels), state?.light ?? null);
  const event = { type: 'baseline.set', frame: ref, size, width, height, light } as const;
  return order(camera, event, state, deps.cameras);
}

async function order(
  camera: StoredCamera,
  event: BaselineEvent,
  state: CameraState | undefined,
  cameras: Dependencies['cameras'],
): Promise<BaselineOrder> {
  assertNoReference(camera);
  const { before } = camera.settings;
  if (!(await cameras.orderBaseline(camera.id, event))) throw noCamera(camera.id);
  const open = state?.tracker.tracks.flatMap(({ stage, id }) => (stage === 'open' ? [id] : [])) ?? [];
  const light = event.type === 'baseline.set' && before === 'memory' ? event.light : null;
  const next = `the next frame of ${camera.id}`;
  const what =
    event.type === 'baseline.set'
      ? `${next} is compared with this picture`
      : `${next} starts a new ${before === 'memory' ? 'background model' : 'baseline'}`;
  return {
    camera: camera.id,
    action: event.type === 'baseline.set' ? 'set' : 'reset',
    before,
    light,
    sha256: event.type === 'baseline.set' ? event.frame.sha256 : null,
    settles: open,
    detail: open.length === 0 ? what : `${what}; open changes settle with it, without an alert: ${open.length}`,
  };
}

/** A chosen reference is a setting of the camera, and is replaced there alone. */
function assertNoReference({ id, settings, reference }: StoredCamera): void {
  if (settings.before !== 'reference' || reference === null) return;
  throw invalidValue(
    `${id} is compared with the reference of its settings, expected PUT /v1/cameras/${id} with another reference`,
  );
}

const pxOf = ({ width, height }: Size): string => `${width}x${height} px`;
