/** Contents of the messages about a change, a visit, a picture or a camera that shows nothing. Pure. */
import type { components } from '../../../openapi/generated/api.js';
import type { StreamEvent } from '../events.js';

type Camera = Pick<components['schemas']['Camera'], 'id' | 'name' | 'zones'>;
type Change = components['schemas']['Change'];
type Visit = components['schemas']['Visit'];
/** Links that open as long as the pictures are kept; undefined: the comparison has been erased. */
type Pictures = Pick<components['schemas']['Comparison'], 'frames' | 'heatmaps'> | undefined;

/** Home Assistant refuses a state that is longer, counted in code points. */
const LONGEST_STATE = 255;

/** The types of the event entity, by those of the event stream. */
const TYPE_OF: Readonly<Record<string, string>> = {
  'alert.opened': 'opened',
  'alert.escalated': 'escalated',
  'alert.reverted': 'reverted',
  'alert.acknowledged': 'acknowledged',
  'camera.silent': 'silent',
  'camera.stuck': 'stuck',
  'camera.back': 'back',
  'camera.lens_covered': 'lens_covered',
  'camera.lens_clear': 'lens_clear',
};

/** Whether the event is published. The stream has one for each camera that fails, and the first of them is enough. */
export function isPublished({ type, camera, subject, data }: StreamEvent): boolean {
  // Judgements of visits by people are not published.
  if (subject.kind === 'visit') return !type.endsWith('acknowledged');
  if (subject.kind !== 'camera') return subject.kind === 'change';
  const { cameras = [camera] } = data as { cameras?: readonly (string | null)[] };
  return type in TYPE_OF && cameras[0] === camera;
}
export const ALERT_EVENT_TYPES = Object.values(TYPE_OF);

/**
 * @returns a name for people, or `id` if there is none. Control characters and halves of surrogate pairs become spaces:
 *   parsers of JSON refuse some of them.
 */
export function shownName(name: string | null, id: string): string {
  const shown = (name ?? '').replace(/[\p{Cc}\p{Cs}]+/gu, ' ').trim();
  return shown === '' ? id : shown;
}

/** The event with which a change opened. */
export const openingOf = ({ id, camera, zone, kind, severity, caption, confirmed_at }: Change): StreamEvent => ({
  type: 'change.opened',
  camera,
  at: confirmed_at,
  subject: { kind: 'change', id },
  kind,
  severity,
  zone,
  caption,
  data: {},
});

/**
 * Attributes of the event entity and of the sentence.
 * @param change in the language of the camera; undefined: erased
 * @param baseUrl of the console, without a trailing slash
 */
function statementOf(event: StreamEvent, camera: Camera, change: Change | undefined, baseUrl: string) {
  const { kind, severity, zone, subject } = event;
  // An alert that comes late still states the beginning.
  const ended = /^alert\.(?!reverted)/.test(event.type) ? undefined : change?.ended;
  const named = camera.zones.find(({ id }) => id === zone);
  return {
    sentence: ended?.caption ?? change?.caption ?? event.caption ?? '',
    kind,
    severity,
    zone,
    zone_name: zone === null ? null : shownName(named?.name ?? null, zone),
    ...(change && { confidence: change.confidence }),
    camera: camera.id,
    camera_name: shownName(camera.name, camera.id),
    change: subject.id,
    link: `${baseUrl}/review/${subject.id}`,
  };
}

/** The message of the event entity. Its `id` is that of the alert: the same if the message is ever repeated. */
export function alertMessage(
  alert: StreamEvent,
  camera: Camera,
  { change, pictures, baseUrl }: { change: Change | undefined; pictures: Pictures; baseUrl: string },
): string {
  const { frames, heatmaps } = pictures ?? {};
  return JSON.stringify({
    event_type: TYPE_OF[alert.type],
    ...statementOf(alert, camera, change, baseUrl),
    ...(change && { suppressed_count: change.suppressed_count }),
    at: alert.at,
    id: alert.data.alert,
    // Flat, because the attributes of an entity are easiest to use that way.
    frame_before: frames?.before?.url,
    frame_after: frames?.after?.url,
    outline_before: heatmaps?.before.url,
    outline_after: heatmaps?.after.url,
  });
}

/** The message about the health of a camera, in its language: `cameras` has all that failed together. */
export function healthMessage(event: StreamEvent, camera: Camera, baseUrl: string): string {
  const { reason, since, cameras = [camera.id], share, alert, sentence } = event.data;
  return JSON.stringify({
    event_type: TYPE_OF[event.type],
    ...{ sentence, reason, since, cameras, share },
    camera: camera.id,
    camera_name: shownName(camera.name, camera.id),
    link: `${baseUrl}/cameras/${camera.id}`,
    at: event.at,
    ...(alert !== undefined && { id: alert }),
  });
}

/** The message about the begin, the end or the alert of a visit. @param visit in the language of the camera */
export function visitMessage(
  event: StreamEvent,
  camera: Camera,
  { visit, pictures, baseUrl }: { visit: Visit; pictures: Pictures; baseUrl: string },
): string {
  const { id, caption, first_seen, last_seen, gone, identity, changes, best, alert } = visit;
  return JSON.stringify({
    event_type: event.type.slice('visit.'.length),
    sentence: caption,
    camera: camera.id,
    camera_name: shownName(camera.name, camera.id),
    visit: id,
    first_seen,
    last_seen,
    gone,
    identity,
    changes,
    ...(event.type === 'visit.alerted' && { severity: alert?.severity, rule: alert?.when }),
    link: `${baseUrl}/review/${id}`,
    at: event.at,
    frame: pictures?.frames?.[best.side]?.url,
  });
}

/** The message of the sentence: `state` fits into a state of Home Assistant, the rest are attributes. */
export function sentenceMessage(
  event: StreamEvent,
  camera: Camera,
  change: Change | undefined,
  baseUrl: string,
): string {
  const statement = statementOf(event, camera, change, baseUrl);
  return JSON.stringify({ state: shortened(statement.sentence), ...statement, at: event.at });
}

/** Whether the message of the last sentence is about a change. */
export const isAbout = (sentence: string | null, change: string): boolean =>
  sentence !== null && (JSON.parse(sentence) as { change?: string }).change === change;

function shortened(sentence: string): string {
  const characters = [...sentence];
  return characters.length <= LONGEST_STATE ? sentence : `${characters.slice(0, LONGEST_STATE - 1).join('')}…`;
}

/**
 * The result of a command for a picture.
 * @param result the comparison of the picture, or why there is none
 */
export function snapshotMessage(
  camera: Camera,
  result: { comparison: components['schemas']['Comparison']; baseUrl: string } | { error: string },
): string {
  const head = { camera: camera.id, camera_name: shownName(camera.name, camera.id) };
  if ('error' in result) return JSON.stringify({ state: shortened(result.error), ...head, error: result.error });
  const { id, status, verdict, kind, confidence, caption, error, camera_frame, frames } = result.comparison;
  const sentence = caption ?? error?.detail ?? status;
  return JSON.stringify({
    state: shortened(sentence),
    ...{ sentence, status, verdict, kind, confidence },
    ...head,
    ...(error === undefined ? {} : { error: error.detail }),
    at: camera_frame?.captured_at,
    comparison: id,
    link: `${result.baseUrl}/cameras/${camera.id}`,
    frame: frames?.after?.url,
  });
}
