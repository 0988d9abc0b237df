/** The stored form of a camera's state: plain JSON with the version of its format. */
import { ScenedeltaError } from '../../base/errors.js';
import type { CameraState } from '../../camera/state/state.js';

const VERSION = 2;

/** @returns JSON that `readCameraState` reads */
export const writeCameraState = (state: CameraState): string => JSON.stringify({ v: VERSION, ...state });

/**
 * @param json null or '': there is no state yet
 * @param camera names the state in the error
 * @throws ScenedeltaError 'internal' if a version with another format has stored it
 */
export function readCameraState(json: string | null, camera: string): CameraState | undefined {
  if (json === null || json === '') return undefined;
  const { v, ...state } = JSON.parse(json) as CameraState & { readonly v: number };
  if (v === VERSION) return state;
  throw new ScenedeltaError(
    'internal',
    `the state of camera ${camera} has version ${v}, and this program reads ${VERSION}: start the version that ` +
      `stored it, or erase the state with DELETE /v1/cameras/${camera}`,
  );
}
