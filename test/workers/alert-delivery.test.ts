/** Delivery of an alert: from the turn that made it, through the delivery processor, to the state of its camera. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Value } from 'typebox/value';
import { deliveryIdOf } from '../../src/base/ids.js';
import { PAYLOAD_LIMIT } from '../../src/endpoints/payload.js';
import { createEnqueueDelivery } from '../../src/jobs/enqueue-delivery.js';
import { jobPayload } from '../../src/jobs/payloads.js';
import { createJobProducer } from '../../src/jobs/producer.js';
import type { PostOutcome } from '../../src/outbound/client.js';
import { AlertPayloadSchema } from '../../src/schemas/webhook-payload.js';
import { linkKey } from '../../src/secrets/links.js';
import { KEYS } from '../../src/stores/redis/keys.js';
import { createDeliveryProcessor, DELIVERY_SCHEDULE_MS } from '../../src/workers/deliveries/delivery-job.js';
import { createDeliveryLimits } from '../../src/workers/deliveries/delivery-limits.js';
import { createRecovery, RECOVER_AFTER_MS } from '../../src/workers/recovery.js';
import { setUpCamera } from '../helpers/cameras.js';
import { foundChange, opening, saveTurnChanges, storedAlert } from '../helpers/changes.js';
import { acceptedComparison, finished } from '../helpers/comparisons.js';
import { type Bench, logger, setUpBench } from '../helpers/workers.js';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const links = {
  baseUrl: 'https://cameras.example',
  key: linkKey(SECRET),
  framesMs: 1_000,
  heatmapsMs: 1_000,
};
const ok: PostOutcome = { status: 200, error: null, retryAfterMs: null, permanent: false };
const gone: PostOutcome = { ...ok, status: 410, error: 'the receiver answered 410' };
const busy: PostOutcome = { ...gone, status: 500 };

let bench: Bench;
let now: number;
let sent: { url: string; headers: Record<string, string>; body: string }[];
let answer: PostOutcome;

beforeAll(async () => {
  bench = await setUpBench();
});
beforeEach(async () => {
  await bench.redis.flushall();
  await setUpCamera(bench, 'gate');
  now = Date.now();
  sent = [];
  answer = ok;
});
afterAll(() => bench.stop());

const processor = () =>
  createDeliveryProcessor({
    ...bench,
    outbound: {
      post: async (url, { body, headers }) => {
        sent.push({ url, body: String(body), headers });
        return answer;
      },
      put: () => Promise.reject(),
      ...{ askPermission: async () => ({ rate: null }), mail: () => Promise.reject() },
    },
    pictureOf: async () => undefined,
    cropOf: async () => undefined,
    limits: createDeliveryLimits(() => now),
    loginKey: Buffer.alloc(32, 1),
    secret: SECRET,
    links,
    clock: () => now,
    random: () => 0.5,
    logger,
  });

/** A change whose alert has been saved by its turn, but whose delivery is not queued yet. */
const alerted = async (
  given: Parameters<typeof storedAlert>[1] = {},
  change: Parameters<typeof foundChange>[0] = {},
) => {
  const accepted = acceptedComparison({ camera: 'gate' });
  await bench.results.create(accepted);
  const comparison = finished(accepted.comparison);
  await bench.results.update(comparison.id, { comparison });
  const found = foundChange({
    comparisons: { first: comparison.id, best: comparison.id, last: comparison.id },
    ...change,
  });
  const alert = storedAlert(found, given);
  await saveTurnChanges(bench.redis, { changes: [opening(found)], alerts: [alert] });
  return { alert, change: found, comparison };
};
const enqueue = async (alert: Awaited<ReturnType<typeof alerted>>['alert']) => {
  const jobs: unknown[] = [];
  const queue = { addDelivery: async (ids: object) => void jobs.push(jobPayload(ids)) };
  await createEnqueueDelivery({ ...bench, queue }).ofAlert(alert);
  return jobs[0];
};
const payload = () => JSON.parse(sent[0]?.body ?? '');

describe('an alert', () => {
  it('contains the change, the number of suppressed alerts, and links to the images', async () => {
    const { alert, change, comparison } = await alerted();
    expect(await processor().process(await enqueue(alert))).toEqual({ kind: 'delivered' });
    expect(sent[0]).toMatchObject({
      url: alert.url,
      headers: { 'webhook-id': deliveryIdOf(alert.message.id) },
    });
    expect([...Value.Errors(AlertPayloadSchema, payload())]).toEqual([]);
    expect(payload()).toMatchObject({
      type: 'change.opened',
      timestamp: change.last_seen,
      data: { change, suppressed_count: 2 },
    });
    expect(payload().data.frames.after.url).toContain(
      `https://cameras.example/v1/comparisons/${comparison.id}/frames/after?`,
    );
    expect(payload().data.heatmaps.before.url).toContain(`/${comparison.id}/heatmaps/before?`);
  });

  it('with more regions than a page can draw stays below 20 kB', async () => {
    const region = foundChange().regions[0];
    if (region === undefined) throw new Error('it has one');
    const { alert } = await alerted({}, { regions: Array.from({ length: 500 }, () => region) });
    await processor().process(await enqueue(alert));
    expect(Buffer.byteLength(sent[0]?.body ?? '')).toBeLessThan(PAYLOAD_LIMIT);
    expect([...Value.Errors(AlertPayloadSchema, payload())]).toEqual([]);
  });

  it('has no links to images of an erased comparison', async () => {
    const { alert, comparison } = await alerted();
    await bench.results.erase(comparison.id);
    expect(await processor().process(await enqueue(alert))).toEqual({ kind: 'delivered' });
    expect(Object.keys(payload().data)).toEqual(['change', 'suppressed_count']);
  });

  it('is in the delivery log of its change, without the query of the URL, and not in that of its comparison', async () => {
    const { alert, change, comparison } = await alerted();
    await processor().process(await enqueue(alert));
    const [delivery] = await bench.deliveries.ofSubject(change.id);
    expect(delivery).toMatchObject({
      url: 'https://user.example/alerts',
      state: 'delivered',
      subject: { kind: 'change', id: change.id },
    });
    expect(delivery?.attempts).toHaveLength(1);
    expect(await bench.deliveries.ofSubject(comparison.id)).toEqual([]);
  });

  it('that was erased is given up', async () => {
    const { alert } = await alerted();
    const job = await enqueue(alert);
    await bench.redis.del(KEYS.alert(alert.message.id));
    expect(await processor().process(job)).toEqual({ kind: 'failed' });
    expect(sent).toEqual([]);
  });

  it('of an erased change is not sent', async () => {
    const { alert, change } = await alerted();
    const job = await enqueue(alert);
    await bench.changes.erase(change.id);
    expect(await processor().process(job)).toEqual({ kind: 'dropped' });
    expect(sent).toEqual([]);
  });

  it('of a camera that is erased between two attempts is not sent again and leaves no camera event', async () => {
    const { alert, change } = await alerted();
    const job = await enqueue(alert);
    answer = busy;
    await processor().process(job);
    now += DELIVERY_SCHEDULE_MS[2];
    await bench.cameras.erase('gate');
    await bench.changes.eraseOf('gate');
    expect(await processor().process(job)).toEqual({ kind: 'dropped' });
    expect(sent).toHaveLength(1);
    expect(await bench.deliveries.ofSubject(change.id)).toEqual([]);
  });
});

describe('a later alert of the change', () => {
  const twoAlerts = async () => {
    const { alert, change } = await alerted();
    const reverted = storedAlert(
      {
        ...change,
        status: 'reverted',
        last_seen: new Date(Date.parse(change.last_seen) + 1_000).toISOString(),
      },
      { type: 'change.reverted', cooldownKey: null },
    );
    await saveTurnChanges(bench.redis, { alerts: [reverted] });
    const jobs = { opened: await enqueue(alert), reverted: await enqueue(reverted) };
    const types = () => sent.map(({ body }) => JSON.parse(body).type);
    return { alert, change, jobs, types };
  };

  it('ends the attempts of the earlier ones once it is delivered, with a camera event', async () => {
    const { alert, change, jobs, types } = await twoAlerts();
    answer = busy;
    expect(await processor().process(jobs.opened)).toMatchObject({ kind: 'later' });
    answer = ok;
    expect(await processor().process(jobs.reverted)).toEqual({ kind: 'delivered' });
    now += 2 * DELIVERY_SCHEDULE_MS[1];
    expect(await processor().process(jobs.opened)).toEqual({ kind: 'failed' });
    expect(types()).toEqual(['change.opened', 'change.reverted']);
    const [opened] = await bench.deliveries.ofSubject(change.id);
    expect(opened?.attempts.at(-1)?.error).toMatch(/a later alert of the change has been delivered/);
    expect(await bench.changes.cameraEvents('gate')).toMatchObject([
      { type: 'alert.overtaken', alertId: alert.message.id },
    ]);
  });

  it('that is pending does not block an earlier one, nor is it blocked by one', async () => {
    const { jobs, types } = await twoAlerts();
    answer = busy;
    await processor().process(jobs.opened);
    await processor().process(jobs.reverted);
    now += 2 * DELIVERY_SCHEDULE_MS[1];
    answer = ok;
    expect(await processor().process(jobs.opened)).toEqual({ kind: 'delivered' });
    expect(await processor().process(jobs.reverted)).toEqual({ kind: 'delivered' });
    expect(types().slice(2)).toEqual(['change.opened', 'change.reverted']);
  });
});

describe('a camera event', () => {
  const news = (type: string, { message, cooldown }: Awaited<ReturnType<typeof alerted>>['alert']) => [
    { type, alertId: message.id, ...cooldown },
  ];

  it('is queued once per delivery, however often its end is recorded', async () => {
    const { alert } = await alerted();
    const job = await enqueue(alert);
    await processor().process(job);
    await processor().process(job);
    const attempt = { attempt: 2, at: new Date(now).toISOString(), status: 410, error: 'x', duration_ms: 1 };
    const [late] = news('alert.failed', alert);
    await bench.deliveries.record(deliveryIdOf(alert.message.id), attempt, 'failed', null, {
      camera: 'gate',
      event: late as never,
    });
    expect(await bench.changes.cameraEvents('gate')).toEqual(news('alert.delivered', alert));
  });

  it('is not queued after the camera is erased', async () => {
    const { alert } = await alerted();
    const job = await enqueue(alert);
    await bench.cameras.erase('gate');
    expect(await processor().process(job)).toEqual({ kind: 'delivered' });
    expect(await bench.changes.cameraEvents('gate')).toEqual([]);
  });

  it('is queued for a receiver that is gone for good', async () => {
    const { alert } = await alerted();
    answer = gone;
    expect(await processor().process(await enqueue(alert))).toEqual({ kind: 'failed' });
    expect(await bench.changes.cameraEvents('gate')).toEqual(news('alert.failed', alert));
  });

  it('is not queued before the last attempt of a failing delivery', async () => {
    const { alert } = await alerted();
    const job = await enqueue(alert);
    answer = busy;
    for (const _wait of DELIVERY_SCHEDULE_MS.slice(1)) {
      const outcome = await processor().process(job);
      if (outcome.kind !== 'later') throw new Error(`expected another try, got ${outcome.kind}`);
      expect(await bench.changes.cameraEvents('gate')).toEqual([]);
      now = outcome.at;
    }
    expect(await processor().process(job)).toEqual({ kind: 'failed' });
    expect(await bench.changes.cameraEvents('gate')).toEqual(news('alert.failed', alert));
  });

  it('is not queued for an alert without a cool-down', async () => {
    const { alert } = await alerted({ type: 'change.reverted', cooldownKey: null });
    await processor().process(await enqueue(alert));
    expect(payload().type).toBe('change.reverted');
    expect(await bench.changes.cameraEvents('gate')).toEqual([]);
  });
});

describe('recovery', () => {
  it('queues the alert of a turn whose worker died right after saving it, once', async () => {
    const { alert } = await alerted();
    const queue = createJobProducer(bench.redis);
    const recover = createRecovery({
      ...bench,
      queue,
      enqueueDelivery: createEnqueueDelivery({ ...bench, queue }),
      giveUp: async () => false,
      metrics: { comparison: () => {} },
      clock: () => Date.now() + RECOVER_AFTER_MS + 1_000,
      logger,
    });
    try {
      expect(await recover()).toEqual({ comparisons: 0, deliveries: 1 });
      expect(await recover()).toEqual({ comparisons: 0, deliveries: 0 });
      expect(await queue.states('delivery', [deliveryIdOf(alert.message.id)])).toEqual(['held']);
    } finally {
      await queue.close();
    }
  });
});
