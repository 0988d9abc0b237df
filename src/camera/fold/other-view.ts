/**
 * Frames of another view than the camera's: a picture of another camera, or the camera was turned. A foreign picture
 * comes alone or by turns with the camera's frames; a turned camera shows its new view in every frame.
 */
import type { CameraNote } from '../../schemas/camera-frame.js';
import type { BaselineEvent, CameraState } from '../state/state.js';

/** Frames in a row that must show one new view, as for a new size (camera/baseline/frame-size.ts). */
const VIEW_FRAMES = 3;

export interface OtherView extends NonNullable<CameraState['otherView']> {
  /** enough frames in a row have it: the camera was turned */
  readonly confirmed: boolean;
}

/** @param sameView the frame shows the view of the latest frame of `state.otherView`, and both are whole */
export function countView(
  frame: OtherView['frame'],
  { otherView }: Pick<CameraState, 'otherView'>,
  sameView: boolean,
): OtherView {
  const frames = otherView !== undefined && sameView ? otherView.frames + 1 : 1;
  return { frame, frames, confirmed: frames >= VIEW_FRAMES };
}

export function viewNote({ frames, confirmed }: OtherView): CameraNote {
  const count = `the picture shows another view than the camera's (${frames} of ${VIEW_FRAMES} frames in a row`;
  const detail = confirmed ? 'this frame starts a new baseline' : 'then a new baseline starts';
  return { code: 'view_changed', detail: `${count}; ${detail})` };
}

/** The order by which a confirmed view replaces the baseline. */
export const newViewOrder = (view: OtherView): BaselineEvent => ({
  type: 'baseline.reset',
  because: viewNote(view).detail,
});
