/** Contents of the messages about a change or a visit. Pure. */
import type { CameraSettings } from '../camera/settings/settings.js';
import type { Locale } from '../language/locales.js';
import { DEFAULT_LOCALE, translated } from '../language/translate.js';
import { type Change, shownFrame } from '../schemas/change.js';
import { roundFigures } from '../schemas/rounding.js';
import type { StreamEvent } from '../schemas/stream-event.js';
import type { Visit } from '../schemas/visit.js';
import { type LinkSettings, type PictureLinks, pictureLinks } from '../secrets/links.js';

/** Home Assistant refuses a state that is longer, counted in code points. */
const LONGEST_STATE = 255;

/** The types of the event entity, by those of the event stream. */
const TYPE_OF = {
  'alert.opened': 'opened',
  'alert.escalated': 'escalated',
  'alert.reverted': 'reverted',
  'alert.acknowledged': 'acknowledged',
} as const;
export const ALERT_EVENT_TYPES = Object.values(TYPE_OF);

/**
 * @returns a name for people, or `id` if there is none. Control characters and halves of surrogate pairs become spaces:
 *   parsers of JSON refuse some of them.
 */
export function shownName(name: string | null, id: string): string {
  const shown = (name ?? '').replace(/[\p{Cc}\p{Cs}]+/gu, ' ').trim();
  return shown === '' ? id : shown;
}

/** Attributes of the event entity and of the sentence. */
interface Statement {
  readonly sentence: string;
  readonly kind: string;
  readonly severity: string;
  /** id and name of the zone; null: in no zone */
  readonly zone: string | null;
  readonly zone_name: string | null;
  /** as in the change; absent if it has been erased */
  readonly confidence?: number;
  readonly camera: string;
  readonly camera_name: string;
  readonly change: string;
  /** address in the console */
  readonly link: string;
}

interface Context {
  readonly camera: Pick<CameraSettings, 'name' | 'zones' | 'locale'> & { readonly id: string };
  /** undefined: erased */
  readonly change: Change | undefined;
  /** e.g. 'https://cameras.example', without a trailing slash */
  readonly baseUrl: string;
}

const sentenceOf = ({ caption }: StreamEvent, change: Change | undefined, locale: Locale): string =>
  change === undefined ? (caption ?? '') : translated({ ...change, ...(caption && { caption }) }, locale).caption;

function statementOf(event: StreamEvent, { camera, change, baseUrl }: Context): Statement {
  const zone = camera.zones.find(({ id }) => id === event.zone);
  return {
    sentence: sentenceOf(event, change, camera.locale ?? DEFAULT_LOCALE),
    kind: event.kind ?? '',
    severity: event.severity ?? 'info',
    zone: event.zone,
    zone_name: event.zone === null ? null : shownName(zone?.name ?? null, event.zone),
    ...(change === undefined ? {} : { confidence: roundFigures(change).confidence }),
    camera: camera.id,
    camera_name: shownName(camera.name, camera.id),
    change: event.subject.id,
    link: `${baseUrl}/review/${event.subject.id}`,
  };
}

/**
 * The message of the event entity. Its `id` is that of the alert: the same if the message is ever repeated.
 * @param keptSince end of the comparison that shows the change, epoch ms; null: it has been erased
 */
export function alertMessage(
  alert: StreamEvent,
  context: Context,
  keptSince: number | null,
  links: LinkSettings,
): string {
  const { change } = context;
  const pictures = change === undefined || keptSince === null ? {} : pictureLinks(shownFrame(change), keptSince, links);
  return JSON.stringify({
    event_type: TYPE_OF[alert.type as keyof typeof TYPE_OF],
    ...statementOf(alert, context),
    ...(change === undefined ? {} : { suppressed_count: change.suppressed_count }),
    at: alert.at,
    id: alert.data.alert,
    ...flatLinks(pictures),
  });
}

/** The message about the begin, the end or the alert of a visit. @param keptSince as in alertMessage */
export function visitMessage(
  event: StreamEvent,
  visit: Visit,
  { id, settings }: { readonly id: string; readonly settings: Pick<CameraSettings, 'name' | 'locale'> },
  keptSince: number | null,
  links: LinkSettings,
): string {
  const { first_seen, last_seen, gone, identity, changes, best, alert } = visit;
  const { frames } = keptSince === null ? {} : pictureLinks({ ...best, outlined: false }, keptSince, links);
  return JSON.stringify({
    event_type: event.type.slice('visit.'.length),
    ...{
      sentence: translated(visit, settings.locale ?? DEFAULT_LOCALE).caption,
      camera: id,
      camera_name: shownName(settings.name, id),
      visit: visit.id,
    },
    ...{ first_seen, last_seen, gone, identity, changes },
    ...(event.type === 'visit.alerted' ? { severity: alert?.severity, rule: alert?.when } : {}),
    link: `${links.baseUrl}/review/${visit.id}`,
    at: event.at,
    ...(frames && { frame: frames[best.side].url }),
  });
}

/** Flat, because the attributes of an entity are easiest to use that way. */
function flatLinks(pictures: PictureLinks): Record<string, string> {
  const { frames, heatmaps } = pictures;
  return {
    ...(frames && { frame_before: frames.before.url, frame_after: frames.after.url }),
    ...(heatmaps && { outline_before: heatmaps.before.url, outline_after: heatmaps.after.url }),
  };
}

/** The message of the sentence: `state` fits into a state of Home Assistant, the rest are attributes. */
export function sentenceMessage(event: StreamEvent, context: Context): string {
  const statement = statementOf(event, context);
  return JSON.stringify({ state: shortened(statement.sentence), ...statement, at: event.at });
}

function shortened(sentence: string): string {
  const characters = [...sentence];
  return characters.length <= LONGEST_STATE ? sentence : `${characters.slice(0, LONGEST_STATE - 1).join('')}…`;
}
