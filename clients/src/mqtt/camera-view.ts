/**
 * View of one camera: its settings and state, its open changes and its last sentence; and the part of it that the
 * broker keeps.
 */
import type { components } from '../../../openapi/generated/api.js';
import { changeZones, OFF, ON } from './discovery.js';
import { topicsOf } from './topics.js';

export type Camera = components['schemas']['Camera'];
export type Change = components['schemas']['Change'];
type OpenChange = Pick<Change, 'status' | 'zone' | 'regions' | 'last_regions' | 'confirmed_at' | 'settled_at'>;

export interface CameraView {
  /** with its overview */
  camera: Camera;
  /** changes that may be open, by id */
  readonly changes: Map<string, OpenChange>;
  /** message of the last sentence; null: none yet */
  sentence: string | null;
}

/** End of a suspension without an end: the last millisecond that RFC 3339 can express. */
export const FOR_EVER = '9999-12-31T23:59:59.999Z';

export const isSuspended = ({ suspend_until }: Pick<Camera, 'suspend_until'>, now: number): boolean =>
  suspend_until !== null && Date.parse(suspend_until) > now;

/**
 * Whether a change is still there and not part of the background. With `previous` a change settles with its
 * confirmation, so that it counts for the time in which a background model would learn it.
 * @param now epoch ms
 */
export function isOpen(change: OpenChange, camera: Pick<Camera, 'before' | 'memory'>, now: number): boolean {
  if (change.status === 'reverted') return false;
  if (change.settled_at === null) return true;
  return camera.before === 'previous' && now < Date.parse(change.confirmed_at) + camera.memory.absorb_s * 1000;
}

/** Adds or replaces a change, or removes it if it can no longer be open. */
export function noteChange(view: CameraView, id: string, change: OpenChange | undefined, now: number): void {
  if (change === undefined || !isOpen(change, view.camera, now)) view.changes.delete(id);
  else view.changes.set(id, change);
}

/**
 * @param base MQTT_TOPIC
 * @param now epoch ms
 * @returns the payload of each retained topic, without the discovery payload and the picture
 */
export function retainedStates({ camera, changes, sentence }: CameraView, base: string, now: number) {
  const topics = topicsOf(base, camera.id);
  const open = [...changes.values()].filter((change) => isOpen(change, camera, now));
  const zonesOf = ({ zone, regions, last_regions: last = regions }: OpenChange) => [
    zone,
    ...last.map((region) => region.zone),
  ];
  const zones = new Set(open.flatMap(zonesOf));
  const state = camera.overview?.state ?? 'no_frame_yet';
  const onOff = (on: boolean) => (on ? ON : OFF);
  return new Map<string, string>([
    [topics.state, state],
    [topics.availability, state === 'no_frames' || state === 'no_frame_yet' ? 'offline' : 'online'],
    [topics.suspended, onOff(isSuspended(camera, now))],
    [topics.changed, onOff(open.length > 0)],
    ...changeZones(camera.zones).map((zone) => [topics.zone(zone.id), onOff(zones.has(zone.id))] as const),
    ...(sentence === null ? [] : [[topics.sentence, sentence] as const]),
  ]);
}
