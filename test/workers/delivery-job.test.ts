import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { Value } from 'typebox/value';
import { comparisonMessage } from '../../src/endpoints/comparison-message.js';
import { PAYLOAD_LIMIT, payloadOf } from '../../src/endpoints/payload.js';
import { createEnqueueDelivery } from '../../src/jobs/enqueue-delivery.js';
import { type DeliveryJob, jobPayload } from '../../src/jobs/payloads.js';
import type { PostOutcome } from '../../src/outbound/client.js';
import type { Comparison } from '../../src/schemas/comparison.js';
import { type WebhookPayload, WebhookPayloadSchema } from '../../src/schemas/webhook-payload.js';
import { linkKey, verifyLink } from '../../src/secrets/links.js';
import { createDeliveryProcessor, DELIVERY_SCHEDULE_MS } from '../../src/workers/deliveries/delivery-job.js';
import { createDeliveryLimits } from '../../src/workers/deliveries/delivery-limits.js';
import { acceptedComparison, finished } from '../helpers/comparisons.js';
import { type Bench, logger, setUpBench } from '../helpers/workers.js';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const HOUR = 3_600_000;
const links = {
  baseUrl: 'https://cameras.example',
  key: linkKey(SECRET),
  framesMs: 24 * HOUR,
  heatmapsMs: 168 * HOUR,
};
const ok: PostOutcome = { status: 200, error: null, retryAfterMs: null, permanent: false };
const answered = (status: number, retryAfterMs: number | null = null): PostOutcome => ({
  status,
  error: `the receiver answered ${status}, expected 2xx`,
  retryAfterMs,
  permanent: false,
});

let bench: Bench;
let now: number;
let sent: { url: string; body: string; headers: Record<string, string> }[];
let answers: PostOutcome[];

beforeAll(async () => {
  bench = await setUpBench();
});
beforeEach(async () => {
  await bench.redis.flushall();
  now = Date.now();
  sent = [];
  answers = [ok];
});
afterAll(() => bench.stop());

const processor = (random = () => 0.5) =>
  createDeliveryProcessor({
    ...bench,
    outbound: {
      post: async (url, { body, headers }) => {
        sent.push({ url, body: String(body), headers });
        now += 40;
        return answers.length > 1 ? (answers.shift() as PostOutcome) : (answers[0] as PostOutcome);
      },
      put: () => Promise.reject(),
      askPermission: async () => ({ rate: null }),
      mail: () => Promise.reject(),
    },
    pictureOf: async () => undefined,
    cropOf: async () => undefined,
    limits: createDeliveryLimits(() => now),
    loginKey: Buffer.alloc(32, 1),
    secret: SECRET,
    links,
    clock: () => now,
    random,
    logger,
  });

/** A finished comparison whose delivery is queued, as the worker leaves it. */
const enqueued = async (change: Partial<Comparison> = {}, request: { traceparent?: string } = {}) => {
  const accepted = acceptedComparison({ callbackUrl: 'https://user.example/hook?token=1', ...request });
  await bench.results.create(accepted);
  const comparison = finished(accepted.comparison, change);
  await bench.results.update(comparison.id, { comparison });
  const jobs: DeliveryJob[] = [];
  const enqueue = createEnqueueDelivery({
    ...bench,
    queue: { addDelivery: async (ids) => void jobs.push(jobPayload(ids)) },
  });
  await enqueue.ofComparison({ ...accepted, comparison });
  const [job] = jobs;
  if (job === undefined) throw new Error('one job is queued');
  return { comparison, job, log: () => bench.deliveries.get(job.deliveryId) };
};
/** Runs the job as the queue would, to its last attempt. @returns the waits between attempts, in ms */
const runOut = async (job: DeliveryJob, random?: () => number) => {
  const waits: number[] = [];
  for (;;) {
    const outcome = await processor(random).process(job);
    if (outcome.kind !== 'later') return { waits, end: outcome.kind };
    waits.push(outcome.at - now);
    now = outcome.at;
  }
};

describe('a delivery', () => {
  it('that succeeds is made once, with the attempt but no token in its log', async () => {
    const { job, log } = await enqueued();
    expect(await processor().process(job)).toEqual({ kind: 'delivered' });
    expect(await processor().process(job)).toEqual({ kind: 'delivered' });
    expect(sent).toHaveLength(1);
    expect(sent[0]?.url).toBe('https://user.example/hook?token=1');
    expect(await log()).toMatchObject({
      url: 'https://user.example/hook',
      state: 'delivered',
      next_attempt_at: null,
      attempts: [{ attempt: 1, status: 200, error: null, duration_ms: 40 }],
    });
  });

  it('is signed so that the reference library and the specification accept it', async () => {
    const { job } = await enqueued();
    await processor().process(job);
    const [{ body, headers } = { body: '', headers: {} as Record<string, string> }] = sent;
    expect(new Webhook(SECRET).verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => new Webhook(SECRET).verify(`${body} `, headers)).toThrow();
    const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64');
    const signedText = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', key).update(signedText).digest('base64')}`);
    expect(headers['webhook-id']).toBe(job.deliveryId);
  });

  it('that always fails follows the schedule with one id and one body, and is given up', async () => {
    answers = [answered(500)];
    const { job, log } = await enqueued();
    const { waits, end } = await runOut(job);
    expect(end).toBe('failed');
    expect(waits).toEqual(DELIVERY_SCHEDULE_MS.slice(1));
    expect(sent).toHaveLength(DELIVERY_SCHEDULE_MS.length);
    expect(new Set(sent.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(sent.map(({ body }) => body)).size).toBe(1);
    expect(new Set(sent.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(sent.length);
    const written = await log();
    expect(written).toMatchObject({ state: 'failed', next_attempt_at: null });
    expect(written?.attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it.each([
    [0, 0.8],
    [0.999999, 1.2],
  ])('waits with jitter: a random number of %d means %d times the schedule', async (random, factor) => {
    answers = [answered(500)];
    const { waits } = await runOut((await enqueued()).job, () => random);
    for (const [i, wait] of waits.entries()) {
      expect(wait / (DELIVERY_SCHEDULE_MS[i + 1] ?? Number.NaN)).toBeCloseTo(factor, 3);
    }
  });

  it.each([301, 400, 404, 429, 500, 503])('answered with %d is tried again', async (status) => {
    answers = [answered(status), ok];
    expect(await runOut((await enqueued()).job)).toMatchObject({ end: 'delivered', waits: [5_000] });
  });

  it('carries the trace context that the caller of the comparison sent, and none otherwise', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    await processor().process((await enqueued({}, { traceparent })).job);
    await processor().process((await enqueued()).job);
    expect(sent.map(({ headers }) => headers.traceparent)).toEqual([traceparent, undefined]);
  });

  it('answered with 410 is never tried again', async () => {
    answers = [answered(410)];
    const { job, log } = await enqueued();
    expect(await runOut(job)).toEqual({ end: 'failed', waits: [] });
    expect(await log()).toMatchObject({ state: 'failed', attempts: [{ status: 410 }] });
  });

  it('to a refused address is never tried again', async () => {
    answers = [{ status: null, error: 'the receiver is a private address', retryAfterMs: null, permanent: true }];
    expect(await runOut((await enqueued()).job)).toEqual({ end: 'failed', waits: [] });
  });

  it.each([
    [429, 60_000, 60_000],
    [503, 60_000, 60_000],
    [503, 1, 5_000], // not earlier than the schedule
    [503, 48 * HOUR, 24 * HOUR], // bounded
    [500, 60_000, 5_000], // Retry-After counts only with 429 and 503
  ])('answered with %d and Retry-After of %d ms waits %d ms', async (status, retryAfterMs, expected) => {
    answers = [answered(status, retryAfterMs), ok];
    expect((await runOut((await enqueued()).job)).waits).toEqual([expected]);
  });

  it('whose job was lost and queued again continues from its log', async () => {
    answers = [answered(500), ok];
    const { job } = await enqueued();
    const first = await processor().process(job);
    // The new job comes too early.
    expect(await processor().process(job)).toEqual(first);
    expect(sent).toHaveLength(1);
    now = first.kind === 'later' ? first.at : now;
    expect(await processor().process(job)).toEqual({ kind: 'delivered' });
  });

  it('that another worker has taken over is not sent', async () => {
    const { job, log } = await enqueued();
    expect(await processor().process(job, async () => false)).toMatchObject({ kind: 'later' });
    expect(sent).toEqual([]);
    expect(await log()).toMatchObject({ state: 'pending', attempts: [] });
  });

  it('of an erased comparison is not sent', async () => {
    const { job, comparison, log } = await enqueued();
    await bench.results.erase(comparison.id);
    expect(await processor().process(job)).toEqual({ kind: 'failed' });
    expect(sent).toEqual([]);
    expect((await log())?.attempts[0]?.error).toContain('erased');
  });

  it('that is unknown is dropped', async () => {
    const { job } = await enqueued();
    expect(await processor().process({ ...job, deliveryId: 'dlv_00000000000000000000000000' })).toEqual({
      kind: 'dropped',
    });
  });

  it('is one, however often it is queued', async () => {
    const first = await enqueued();
    const queue = { addDelivery: async () => {} };
    const enqueue = createEnqueueDelivery({ ...bench, queue });
    const stored = await bench.results.get(first.comparison.id);
    if (stored === undefined) throw new Error('it is stored');
    await enqueue.ofComparison(stored);
    expect(await bench.deliveries.ofSubject(first.comparison.id)).toHaveLength(1);
  });
});

/** As the callback of the comparison gets it. */
const payloadFor = (comparison: Comparison, given: object = {}): WebhookPayload =>
  payloadOf(comparisonMessage(comparison), {
    ...links,
    keptSince: Date.parse(comparison.finished_at ?? ''),
    ...given,
  }) as WebhookPayload;

describe('the payload', () => {
  const comparison = () => finished(acceptedComparison({ camera: 'gate' }).comparison);

  it('fits its schema, and its links are valid until the images are deleted', () => {
    const payload = payloadFor(comparison());
    expect([...Value.Errors(WebhookPayloadSchema, payload)]).toEqual([]);
    expect(payload).toMatchObject({ type: 'comparison.finished', timestamp: payload.data.finished_at });
    expect(payload.trimmed).toBeUndefined();
    const end = Date.parse(payload.timestamp);
    for (const [link, lifetime] of [
      [payload.data.frames?.before?.url, links.framesMs],
      [payload.data.heatmaps?.after.url, links.heatmapsMs],
    ] as const) {
      const url = new URL(link ?? '');
      expect(url.origin).toBe(links.baseUrl);
      const given = { exp: url.searchParams.get('exp') ?? '', sig: url.searchParams.get('sig') ?? '' };
      expect(verifyLink(url.pathname, given, { key: links.key, now: end + lifetime - 1 })).toBe(true);
      expect(verifyLink(url.pathname, given, { key: links.key, now: end + lifetime + 1_000 })).toBe(false);
    }
  });

  it('has no links to images that do not exist', () => {
    const { data } = payloadFor({ ...comparison(), model: null }, { framesMs: 0 });
    expect(data).not.toHaveProperty('heatmaps');
    expect(data).not.toHaveProperty('frames');
    const camera_frame = { captured_at: '2026-06-01T12:00:00.000Z', before: null, notes: [] };
    const first = payloadFor({ ...comparison(), model: null, camera_frame });
    expect(Object.keys(first.data.frames ?? {})).toEqual(['after']);
    expect([...Value.Errors(WebhookPayloadSchema, first)]).toEqual([]);
  });

  it('of a failed comparison carries its problem', () => {
    const { comparison: accepted } = acceptedComparison();
    const error = { type: 't', title: 'x', status: 422, detail: 'd' };
    const payload = payloadFor({ ...accepted, status: 'failed', finished_at: accepted.created_at, error });
    expect(payload).toMatchObject({ type: 'comparison.failed', data: { error } });
  });

  const region = comparison().regions?.[0];
  const many = <T>(count: number, one: T) => Array.from({ length: count }, (_, i) => ({ ...one, id: i + 1 }));
  const word = { text: 'x'.repeat(50), score: 0.5 };

  it.each([
    ['many words', { words: many(300, word) }, ['words']],
    ['many words and regions', { words: many(300, word), regions: many(300, region) }, ['words', 'regions']],
    ['much metadata', { metadata: 'm'.repeat(30_000) }, ['words', 'regions', 'metadata']],
  ])(
    'with %s stays below 20 kB, the strongest regions last longest, and it says what it left out',
    (_what, change, trimmed) => {
      const payload = payloadFor({ ...comparison(), ...change } as Comparison);
      expect(Buffer.byteLength(JSON.stringify(payload))).toBeLessThan(PAYLOAD_LIMIT);
      expect(payload.trimmed).toEqual(trimmed);
      expect(payload.data.caption).toBe('a parcel appeared');
      const kept = payload.data.regions ?? [];
      expect(kept.map(({ id }) => id)).toEqual(kept.map((_, i) => i + 1));
      expect([...Value.Errors(WebhookPayloadSchema, payload)]).toEqual([]);
    },
  );
});
