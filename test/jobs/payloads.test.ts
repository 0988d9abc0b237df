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

/** Payloads as release 0.7.0 wrote them. */
const VERSION_1 = {
  comparison: {
    v: 1,
    ...comparison,
    before: { from: 'url', url: 'http://user:secret@camera/1.jpg' },
    after: { from: 'stored', sha256: 'a'.repeat(64), bytes: 1, contentType: 'image/png' },
    model: null,
    acceptedAt: 1,
    deadline: null,
    callbackUrl: 'https://user.example/hook?token=1',
    apiKeyId: 'key_test',
  },
  turn: { v: 1, camera: 'gate' },
  delivery: {
    v: 1,
    ...delivery,
    comparisonId: `cmp_${ULID}`,
    url: 'https://a/?token=1',
    apiKeyId: 'key_test',
  },
};
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

  it.each(KINDS)('%s job of version 1 has the same ids', (kind, schema, payload) => {
    expect(parseJob(schema, VERSION_1[kind])).toMatchObject({ ...payload, v: 1 });
  });

  it.each(KINDS)(
    '%s job of an unknown version is refused for good, and the message names it',
    (_kind, schema, payload) => {
      const parse = () => parseJob(schema, { ...payload, v: 3 });
      expect(parse).toThrow('Job payload has version 3, expected one of 1, 2');
      expect(parse).toThrow(expect.objectContaining({ code: 'invalid-request', permanent: true, field: '/v' }));
    },
  );

  it.each(KINDS)('%s job without its id is refused, and the message names the field', (_kind, schema, _payload) => {
    for (const payload of [{ v: 2 }, null, 'text']) expect(() => parseJob(schema, payload)).toThrow(ScenedeltaError);
    expect(() => parseJob(schema, { v: 2 })).toThrow('Job payload does not fit its schema at');
  });
});
