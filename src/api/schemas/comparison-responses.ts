/** Headers and responses of the two requests that start a comparison: a pair of frames, and one frame of a camera. */
import { Type } from 'typebox';
import type { ErrorCode } from '../../base/errors.js';
import { text } from '../../schemas/constructors.js';
import {
  BODY_PROBLEMS,
  IDEMPOTENCY_HEADER,
  json,
  PICTURE_PROBLEMS,
  problems,
  RESPONSE_HEADERS,
  ref,
} from './shared.js';

export const PREFERENCE_HEADERS = Type.Object({
  Prefer: Type.Optional(Type.String({ description: '`wait=N` (seconds) or `respond-async`.', examples: ['wait=20'] })),
  ...IDEMPOTENCY_HEADER,
  traceparent: Type.Optional(text('W3C trace context, carried to the webhook.')),
});

const COMPARISON_PROBLEMS = [
  ...([...BODY_PROBLEMS, 'idempotency-in-flight', 'cancelled', 'gone', ...PICTURE_PROBLEMS] as const),
  ...(['frames-differ-in-shape', 'unknown-model', 'url-refused', 'url-failed', 'url-unavailable'] as const),
  ...(['idempotency-mismatch', 'invalid-value', 'deadline-exceeded', 'inference-failed'] as const),
  ...(['storage-unavailable', 'queue-share-used', 'overloaded'] as const),
];

/** The `response` of a route. @param codes problems beside the ones of every comparison */
export const comparisonResponses = (codes: readonly ErrorCode[] = []) => ({
  200: json('The finished comparison.', ref('Comparison'), {
    ...RESPONSE_HEADERS.preference,
    ...RESPONSE_HEADERS.replayed,
  }),
  202: json('Accepted: read it at `Location`.', ref('Comparison'), {
    ...RESPONSE_HEADERS.location,
    ...RESPONSE_HEADERS.retryAfter,
    ...RESPONSE_HEADERS.preference,
    ...RESPONSE_HEADERS.replayed,
  }),
  ...problems([...COMPARISON_PROBLEMS, ...codes], { schema: 'ComparisonProblem' }),
});
