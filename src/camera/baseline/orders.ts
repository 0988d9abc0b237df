/** Orders that replace a camera's baseline, carried out on its state before the next frame. */
import type { CameraNote } from '../../schemas/camera-frame.js';
import type { StoredCamera } from '../settings/camera.js';
import type { BaselineEvent, CameraState } from '../state/state.js';

const NOTES: Readonly<Record<BaselineEvent['type'], CameraNote>> = {
  'baseline.set': { code: 'baseline_set', detail: 'the baseline was set from a picture by request' },
  'baseline.reset': { code: 'baseline_reset', detail: 'the baseline was reset by request' },
};

interface OrderedBaseline {
  readonly state: CameraState;
  readonly notes: readonly CameraNote[];
  /** The earlier frames were compared with something else. */
  readonly reset: boolean;
}

const noteOf = (order: BaselineEvent): CameraNote =>
  order.type === 'baseline.reset' && order.because !== undefined
    ? { ...NOTES[order.type], detail: order.because }
    : NOTES[order.type];

/** @param at capture time of the frame, from which a picture counts as learned, epoch ms */
export function carryOut(
  orders: readonly BaselineEvent[],
  state: CameraState,
  camera: StoredCamera,
  at: number,
): OrderedBaseline {
  if (orders.length === 0) return { state, notes: [], reset: false };
  // Without `against`, a picture that is "before" from now on is not taken for one of an earlier setting.
  const { against: _against, ...present } = state;
  const replaced = orders.reduce((now, order) => carryOutOne(order, now, camera, at), present);
  return { state: replaced, notes: orders.map(noteOf), reset: true };
}

function carryOutOne(
  order: BaselineEvent,
  { otherSize: _otherSize, ...state }: CameraState,
  { settings }: StoredCamera,
  at: number,
): CameraState {
  if (order.type === 'baseline.reset') return { ...state, before: null, backgrounds: {}, size: null };
  const { frame, width, height, light } = order;
  const size = state.size ?? order.size;
  if (settings.before !== 'memory') return { ...state, size, before: { frame, at: null } };
  return { ...state, size, backgrounds: { ...state.backgrounds, [light]: { frame, width, height, learnedAt: at } } };
}
