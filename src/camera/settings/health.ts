/** State of a camera for people and dashboards, from its last frame and comparison. Pure. */
import type { TAMPERS } from '../../schemas/loss.js';

export const HEALTH_STATES = [
  'live',
  'no_frames',
  'stuck',
  'moved',
  'dark',
  'blocked',
  'covered',
  'out_of_focus',
  'no_signal',
  'damaged',
  'no_frame_yet',
] as const;
export type HealthState = (typeof HEALTH_STATES)[number];
type Tamper = (typeof TAMPERS)[number];

export interface CameraHealth {
  /** epoch ms; null: none yet */
  readonly lastFrameAt: number | null;
  /** moving average of the time between two frames, ms; null before the second one */
  readonly intervalMs: number | null;
  /** of the last frame; null: none */
  readonly tamper: Tamper | null;
  /** it repeats one picture */
  readonly frozen: boolean;
  /** its frames do not show its scene */
  readonly lost: boolean;
  /** something on the lens has covered a part of the view for long */
  readonly covered: boolean;
}

/** A camera is late after this many of its intervals, at least a minute. */
const LATE_INTERVALS = 3;
const LATE_MS = 60_000;
const STATE_OF_TAMPER: Readonly<Record<Tamper, HealthState>> = {
  turned: 'moved',
  darkened: 'dark',
  blocked: 'blocked',
  covered: 'covered',
  defocused: 'out_of_focus',
  signal_lost: 'no_signal',
  picture_damaged: 'damaged',
  foreign_picture: 'no_signal',
};

/** Whether the next frame is missing. @param now epoch ms */
export const isLate = (
  { lastFrameAt, intervalMs }: Pick<CameraHealth, 'lastFrameAt' | 'intervalMs'>,
  now: number,
): boolean => lastFrameAt !== null && now - lastFrameAt > Math.max(LATE_MS, LATE_INTERVALS * (intervalMs ?? 0));

/** @param now epoch ms */
export function stateOf(
  { lastFrameAt, intervalMs, tamper, frozen, lost, covered }: CameraHealth,
  now: number,
): HealthState {
  if (lastFrameAt === null) return 'no_frame_yet';
  if (isLate({ lastFrameAt, intervalMs }, now)) return 'no_frames';
  if (tamper !== null) return STATE_OF_TAMPER[tamper];
  if (lost) return 'no_signal';
  if (frozen) return 'stuck';
  return covered ? 'covered' : 'live';
}
