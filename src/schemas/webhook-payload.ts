/** What a webhook says: a comparison or an alert with links that open without an API key, in the form of Standard Webhooks 1.0. Pure. */
import { type Static, Type } from 'typebox';
import { SIDES, type Side } from '../images.js';
import { framePath, heatmapPath, signLink } from '../links.js';
import { ALERT_TYPES, type AlertIntent, FoundChangeSchema } from './change.js';
import { type Comparison, ComparisonSchema } from './comparison.js';
import { dateTime, literals } from './constructors.js';

export const WEBHOOK_TYPES = ['comparison.finished', 'comparison.failed'] as const;
/** In this order things are left out until the payload is small enough. */
export const TRIMMED = ['words', 'regions', 'metadata'] as const;

export const WebhookPayloadSchema = Type.Object(
  {
    type: literals(WEBHOOK_TYPES),
    timestamp: dateTime('When it happened; the same at every try.'),
    data: ComparisonSchema,
    trimmed: Type.Optional(
      Type.Array(literals(TRIMMED), {
        description:
          'What was left out, in whole or in part, to stay below 20 kB; GET the comparison for all of it.',
      }),
    ),
  },
  { $id: 'WebhookPayload' },
);
export type WebhookPayload = Static<typeof WebhookPayloadSchema>;

const { frames, heatmaps } = ComparisonSchema.properties;
export const AlertPayloadSchema = Type.Object(
  {
    type: literals(ALERT_TYPES),
    timestamp: dateTime("The camera's time; the same at every try."),
    data: Type.Object({
      change: FoundChangeSchema,
      suppressed_count: Type.Integer({
        minimum: 0,
        description:
          'Alerts of the same zone, kind and place that were kept quiet or lost since the one before.',
      }),
      frames,
      heatmaps,
    }),
  },
  { $id: 'AlertPayload' },
);
export type AlertPayload = Static<typeof AlertPayloadSchema>;

/** Standard Webhooks asks for less than 20 kB. */
export const PAYLOAD_LIMIT = 20_000;

export interface WebhookLinks {
  /** e.g. 'https://cameras.example', without a slash at the end */
  readonly baseUrl: string;
  readonly key: Buffer;
  /** how long after its end the pictures are kept, so that no link promises more */
  readonly framesMs: number;
  readonly heatmapsMs: number;
}

/** @param comparison finished or failed. The same comparison always gives the same payload. */
export function buildWebhookPayload(comparison: Comparison, links: WebhookLinks): WebhookPayload {
  const timestamp = comparison.finished_at ?? comparison.created_at;
  // where no model looked (the frames were identical, or the comparison failed), there are no maps
  const hasMaps = comparison.model != null;
  return trimmed({
    type: comparison.status === 'finished' ? 'comparison.finished' : 'comparison.failed',
    timestamp,
    data: { ...comparison, ...pictureLinks(comparison.id, Date.parse(timestamp), hasMaps, links) },
  });
}

/** Regions of an alert that are told, the strongest: no alert comes near the limit with them. */
const ALERT_REGIONS = 20;

/** @param keptSince epoch ms by our clock, when the comparison that shows the change ended; null: it is gone, and so are its pictures */
export function buildAlertPayload(
  { type, change, suppressedCount, at }: AlertIntent,
  keptSince: number | null,
  links: WebhookLinks,
): AlertPayload {
  const { best } = change.comparisons;
  return {
    type,
    timestamp: new Date(at).toISOString(),
    data: {
      change: { ...change, regions: change.regions.slice(0, ALERT_REGIONS) },
      suppressed_count: suppressedCount,
      // a blocked lens is recognised without the model's maps
      ...(keptSince === null ? {} : pictureLinks(best, keptSince, change.kind !== 'tamper', links)),
    },
  };
}

/** Links that open as long as the pictures are kept. */
function pictureLinks(id: string, keptSince: number, hasMaps: boolean, links: WebhookLinks) {
  const both = (pathOf: (id: string, side: Side) => string, lifetimeMs: number) => {
    const expiresAt = keptSince + lifetimeMs;
    const link = (side: Side) => ({
      url: links.baseUrl + signLink(pathOf(id, side), { key: links.key, expiresAt }),
    });
    return Object.fromEntries(SIDES.map((side) => [side, link(side)])) as Record<Side, { url: string }>;
  };
  const frames = links.framesMs === 0 ? {} : { frames: both(framePath, links.framesMs) };
  const heatmaps = hasMaps && links.heatmapsMs > 0 ? { heatmaps: both(heatmapPath, links.heatmapsMs) } : {};
  return { ...frames, ...heatmaps };
}

function trimmed(whole: WebhookPayload): WebhookPayload {
  let payload = whole;
  const tooLarge = () => Buffer.byteLength(JSON.stringify(payload)) >= PAYLOAD_LIMIT;
  const leaveOut = (what: (typeof TRIMMED)[number], data: Comparison) => {
    payload = { ...payload, data, trimmed: [...new Set([...(payload.trimmed ?? []), what])] };
  };
  if (tooLarge() && payload.data.words !== undefined) leaveOut('words', { ...payload.data, words: [] });
  // the strongest come first and stay longest
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
