import { describe, expect, it } from '@jest/globals';
import { ScenedeltaError } from '../../src/base/errors.js';
import {
  ComparisonJobSchema,
  DeliveryJobSchema,
  jobPayload,
  parseJob,
  TurnJobSchema,
} from '../../src/jobs/payloads.js';

const ULID = '01k9x3v5s8q2m7c4w6n1b0t9hz';
const comparison = { comparisonId: `cmp_${ULID}`, traceId: '0'.repeat(32) };
const delivery = { deliveryId: `dlv_${ULID}`, traceId: '0'.repeat(32) };

const KINDS = [
  ['comparison', ComparisonJobSchema, jobPayload(comparison)],
  ['turn', TurnJobSchema, jobPayload({ camera: 'gate' })],
  ['delivery', DeliveryJobSchema, jobPayload(delivery)],
] as const;

describe('The payload of a', () => {
  it.each(KINDS)('%s job is read as it is written, in version 2', (_kind, schema, payload) => {
    expect(payload.v).toBe(2);
    expect(parseJob(schema, payload)).toEqual(payload);
  });

  it.each(KINDS)(
    '%s job of another version is refused for good, and the message names it',
    (_kind, schema, payload) => {
      const parse = () => parseJob(schema, { ...payload, v: 1 });
      expect(parse).toThrow('Job payload has version 1, expected 2');
      expect(parse).toThrow(expect.objectContaining({ code: 'invalid-request', permanent: true, field: '/v' }));
    },
  );

  it.each(KINDS)('%s job without its id is refused, and the message names the field', (_kind, schema, _payload) => {
    for (const payload of [{ v: 2 }, null, 'text']) expect(() => parseJob(schema, payload)).toThrow(ScenedeltaError);
    expect(() => parseJob(schema, { v: 2 })).toThrow('Job payload does not fit its schema at');
  });
});
