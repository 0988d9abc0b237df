/**
 * View of one camera: its settings, its open changes, its last sentence and its health; and the retained states that
 * follow from them. Pure.
 */
import { systemTime } from '../base/clock.js';
import type { StoredCamera } from '../camera/settings/camera.js';
import { type CameraHealth, stateOf } from '../camera/settings/health.js';
import type { CameraSettings } from '../camera/settings/settings.js';
import { type Change, lastRegions } from '../schemas/change.js';
import { changeZones, OFF, ON } from './discovery.js';
import { topicsOf } from './topics.js';

type OpenChange = Pick<Change, 'status' | 'zone' | 'regions' | 'last_regions' | 'confirmed_at' | 'settled_at'>;

export interface CameraView {
  camera: StoredCamera;
  health: CameraHealth;
  /** changes that may be open, by id */
  readonly changes: Map<string, OpenChange>;
  /** message of the last sentence; null: none yet */
  sentence: string | null;
}

/** End of a suspension without an end: the last millisecond that RFC 3339 can express. */
const FOR_EVER = '9999-12-31T23:59:59.999Z';

/** @returns the camera with its alerts suspended, or resumed; the same one if they are so already */
export function withSuspension(camera: StoredCamera, suspend: boolean): StoredCamera {
  const until = suspend ? FOR_EVER : null;
  if (camera.settings.suspend_until === until) return camera;
  return { ...camera, settings: { ...camera.settings, suspend_until: until }, updated_at: systemTime() };
}

export const isSuspended = ({ suspend_until }: Pick<CameraSettings, 'suspend_until'>, now: number): boolean =>
  suspend_until !== null && Date.parse(suspend_until) > now;

/**
 * Whether a change is still there and not part of the background. With `previous` a change settles with its
 * confirmation, so that it counts for the time in which a background model would learn it.
 * @param now epoch ms
 */
export function isOpen(change: OpenChange, settings: Pick<CameraSettings, 'before' | 'memory'>, now: number): boolean {
  if (change.status === 'reverted') return false;
  if (change.settled_at === null) return true;
  return settings.before === 'previous' && now < Date.parse(change.confirmed_at) + settings.memory.absorb_s * 1000;
}

/** Adds or replaces a change, or removes it if it can no longer be open. */
export function noteChange(view: CameraView, id: string, change: OpenChange | undefined, now: number): void {
  if (change === undefined || !isOpen(change, view.camera.settings, now)) view.changes.delete(id);
  else view.changes.set(id, change);
}

/**
 * @param base MQTT_TOPIC
 * @param now epoch ms
 * @returns the payload of each retained topic, without the discovery payload and the picture
 */
export function retainedStates(view: CameraView, base: string, now: number): Map<string, string> {
  const { id, settings } = view.camera;
  const topics = topicsOf(base, id);
  const open = [...view.changes.values()].filter((change) => isOpen(change, settings, now));
  const zones = new Set(open.flatMap((change) => [change.zone, ...lastRegions(change).map((region) => region.zone)]));
  const state = stateOf(view.health, now);
  const onOff = (on: boolean) => (on ? ON : OFF);
  return new Map([
    [topics.state, state],
    [topics.availability, state === 'no_frames' || state === 'no_frame_yet' ? 'offline' : 'online'],
    [topics.suspended, onOff(isSuspended(settings, now))],
    [topics.changed, onOff(open.length > 0)],
    ...changeZones(settings.zones).map((zone) => [topics.zone(zone.id), onOff(zones.has(zone.id))] as const),
    ...(view.sentence === null ? [] : [[topics.sentence, view.sentence] as const]),
  ]);
}
