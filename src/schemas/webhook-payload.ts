/** Payloads of webhooks (Standard Webhooks 1.0), with links to pictures that open without an API key. */
import { type Static, type TSchema, Type } from 'typebox';
import { CameraSignalSchema } from './camera-signal.js';
import { FoundChangeSchema } from './change.js';
import { ComparisonSchema } from './comparison.js';
import { count, dateTime, literals } from './constructors.js';
import { DigestSchema } from './digest.js';
import { ALERT_TYPES } from './kinds.js';
import { SIGNAL_EVENTS, VISIT_EVENTS } from './message.js';
import { VisitSchema } from './visit.js';

export const WEBHOOK_TYPES = ['comparison.finished', 'comparison.failed'] as const;
/** Members that are left out, in this order, until the payload is small enough. */
export const TRIMMED = ['words', 'regions', 'metadata'] as const;

export const WebhookPayloadSchema = Type.Object(
  {
    type: literals(
      [...WEBHOOK_TYPES, 'pair.compared'],
      'pair.compared: the end of the comparison of a pair of a camera, as endpoints get it.',
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
    picture: Type.Optional(
      Type.Object(
        { url: Type.String() },
        { description: 'The frame with the outline of the change, beside a crop; a JPEG.' },
      ),
    ),
  }),
);

export const VisitPayloadSchema = payloadOf(
  'VisitPayload',
  literals(VISIT_EVENTS),
  Type.Object({ visit: VisitSchema, frames }),
);

export const SignalPayloadSchema = payloadOf(
  'SignalPayload',
  literals(SIGNAL_EVENTS),
  Type.Object({ signal: CameraSignalSchema }),
);

export const DigestPayloadSchema = payloadOf(
  'DigestPayload',
  Type.Literal('alerts.digest'),
  Type.Object({ digest: DigestSchema }),
);
