/**
 * Payloads of webhooks (Standard Webhooks 1.0): a comparison or an alert, with links that open without an API key.
 * Pure.
 */
import { type Static, type TSchema, Type } from 'typebox';
import { SIDES, type Side } from '../base/images.js';
import { framePath, heatmapPath, signLink } from '../secrets/links.js';
import { CameraSignalSchema, SIGNAL_EVENTS, type SignalNotice } from './camera-signal.js';
import { ALERT_TYPES, type AlertIntent, FoundChangeSchema } from './change.js';
import { type Comparison, ComparisonSchema, sidesOf } from './comparison.js';
import { count, dateTime, literals } from './constructors.js';
import { roundFigures } from './rounding.js';
import { VISIT_EVENTS, type VisitNotice, VisitSchema } from './visit.js';

export const WEBHOOK_TYPES = ['comparison.finished', 'comparison.failed'] as const;
/** Members that are left out, in this order, until the payload is small enough. */
const TRIMMED = ['words', 'regions', 'metadata'] as const;

export const WebhookPayloadSchema = Type.Object(
  {
    type: literals(
      [...WEBHOOK_TYPES, 'round.compared'],
      'round.compared: the end of the comparison of a round, as endpoints get it.',
    ),
    timestamp: dateTime('Time of the event; the same at every attempt.'),
    data: ComparisonSchema,
    trimmed: Type.Optional(
      Type.Array(literals(TRIMMED), {
        description: 'Members that were left out or shortened to stay below 20 kB; GET the comparison for all of them.',
      }),
    ),
  },
  { $id: 'WebhookPayload' },
);
export type WebhookPayload = Static<typeof WebhookPayloadSchema>;

/** A message of a camera's own time. */
const payloadOf = <T extends TSchema, D extends TSchema>($id: string, type: T, data: D) =>
  Type.Object({ type, timestamp: dateTime('Capture time of the event; the same at every attempt.'), data }, { $id });

const { frames, heatmaps } = ComparisonSchema.properties;
export const AlertPayloadSchema = payloadOf(
  'AlertPayload',
  literals([...ALERT_TYPES, 'endpoint.test'], 'endpoint.test: an invented change, sent by request.'),
  Type.Object({
    change: FoundChangeSchema,
    suppressed_count: count(
      'Alerts of the same zone, kind and location that were suppressed or lost since the previous one.',
    ),
    frames,
    heatmaps,
  }),
);
export type AlertPayload = Static<typeof AlertPayloadSchema>;

export const VisitPayloadSchema = payloadOf(
  'VisitPayload',
  literals(VISIT_EVENTS),
  Type.Object({ visit: VisitSchema }),
);
export type VisitPayload = Static<typeof VisitPayloadSchema>;

export const SignalPayloadSchema = payloadOf(
  'SignalPayload',
  literals(SIGNAL_EVENTS),
  Type.Object({ signal: CameraSignalSchema }),
);
export type SignalPayload = Static<typeof SignalPayloadSchema>;

export const buildSignalPayload = ({ type, signal, at }: SignalNotice): SignalPayload => ({
  ...{ type, timestamp: new Date(at).toISOString(), data: { signal } },
});

/** The part of an alert that its payload shows. */
export interface AlertToShow extends Pick<AlertIntent, 'change' | 'suppressedCount' | 'at'> {
  readonly type: AlertPayload['type'];
}

/** Most bytes of a payload: Standard Webhooks recommends less than 20 kB. */
export const PAYLOAD_LIMIT = 20_000;

export interface WebhookLinks {
  /** e.g. 'https://cameras.example', without a trailing slash */
  readonly baseUrl: string;
  readonly key: Buffer;
  /** retention of the pictures after the end of the comparison; links expire with it */
  readonly framesMs: number;
  readonly heatmapsMs: number;
}

/**
 * @param comparison a finished or failed one; the same comparison always gives the same payload
 * @param type absent: the end of the comparison
 */
export function buildWebhookPayload(
  comparison: Comparison,
  links: WebhookLinks,
  type: WebhookPayload['type'] = comparison.status === 'finished' ? 'comparison.finished' : 'comparison.failed',
): WebhookPayload {
  const timestamp = comparison.finished_at ?? comparison.created_at;
  // Without a model (identical frames, or a failed comparison) there are no maps.
  const hasMaps = comparison.model != null;
  return trimmed({
    type,
    timestamp,
    data: {
      ...roundFigures(comparison),
      ...pictureLinks(comparison.id, Date.parse(timestamp), hasMaps, links, sidesOf(comparison)),
    },
  });
}

/** Most regions in an alert, the strongest first, so that its payload stays far below the limit. */
const ALERT_REGIONS = 20;

/**
 * @param keptSince end of the comparison that shows the change, epoch ms by the clock of the server; null if the
 * comparison and its pictures have been erased
 */
export function buildAlertPayload(
  { type, change, suppressedCount, at }: AlertToShow,
  keptSince: number | null,
  links: WebhookLinks,
): AlertPayload {
  const { best } = change.comparisons;
  const { last_regions: _last, ...shown } = change;
  return {
    type,
    timestamp: new Date(at).toISOString(),
    data: {
      change: roundFigures({ ...shown, regions: change.regions.slice(0, ALERT_REGIONS) }),
      suppressed_count: suppressedCount,
      // Tampering is recognised without the model, so there are no maps.
      ...(keptSince === null ? {} : pictureLinks(best, keptSince, change.kind !== 'tamper', links)),
    },
  };
}

/** @param keptSince as in buildAlertPayload, of the comparison that shows the visit best */
export function buildVisitPayload(
  { type, visit, at }: VisitNotice,
  keptSince: number | null,
  links: WebhookLinks,
): VisitPayload {
  const { comparison, side } = visit.best;
  const pictures = keptSince === null ? {} : pictureLinks(comparison, keptSince, false, links);
  const picture = 'frames' in pictures ? { picture: pictures.frames[side] } : {};
  return { type, timestamp: new Date(at).toISOString(), data: { visit: { ...visit, ...picture } } };
}

/**
 * Signed links that expire when the pictures do.
 * @param keptSince end of the comparison, epoch ms
 * @param framed the frames that the comparison has
 */
export function pictureLinks(
  id: string,
  keptSince: number,
  hasMaps: boolean,
  links: WebhookLinks,
  framed: readonly Side[] = SIDES,
) {
  const linksOf = (pathOf: (id: string, side: Side) => string, lifetimeMs: number, sides: readonly Side[]) => {
    const expiresAt = keptSince + lifetimeMs;
    const link = (side: Side) => ({ url: links.baseUrl + signLink(pathOf(id, side), { key: links.key, expiresAt }) });
    return Object.fromEntries(sides.map((side) => [side, link(side)])) as Record<Side, { url: string }>;
  };
  const frames = links.framesMs === 0 ? {} : { frames: linksOf(framePath, links.framesMs, framed) };
  const heatmaps = hasMaps && links.heatmapsMs > 0 ? { heatmaps: linksOf(heatmapPath, links.heatmapsMs, SIDES) } : {};
  return { ...frames, ...heatmaps };
}

function trimmed(full: WebhookPayload): WebhookPayload {
  let payload = full;
  const tooLarge = () => Buffer.byteLength(JSON.stringify(payload)) >= PAYLOAD_LIMIT;
  const leaveOut = (what: (typeof TRIMMED)[number], data: Comparison) => {
    payload = { ...payload, data, trimmed: [...new Set([...(payload.trimmed ?? []), what])] };
  };
  if (tooLarge() && payload.data.words !== undefined) leaveOut('words', { ...payload.data, words: [] });
  // The strongest regions come first and are kept longest.
  for (let kept = payload.data.regions ?? []; tooLarge() && kept.length > 0; ) {
    kept = kept.slice(0, Math.floor(kept.length / 2));
    leaveOut('regions', { ...payload.data, regions: kept });
  }
  if (tooLarge()) {
    const { metadata: _left, ...data } = payload.data;
    leaveOut('metadata', data);
  }
  return payload;
}
