/** Descriptions of changes: from the frame that confirms one to the describer's words, after its alerts. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { frameKey } from '../../src/blobs.js';
import { createDescriber, type Describer } from '../../src/describer/describe.js';
import { createEnqueueDelivery } from '../../src/jobs/enqueue-delivery.js';
import { jobPayload } from '../../src/jobs/payloads.js';
import { createJobProducer } from '../../src/jobs/producer.js';
import type { Finding } from '../../src/schemas/comparison.js';
import type { UseLimits } from '../../src/stores/descriptions.js';
import { createDescriptionProcessor } from '../../src/workers/descriptions/describe-job.js';
import { createRecovery, RECOVER_AFTER_MS } from '../../src/workers/recovery.js';
import { EMPTY, runsOn, WITH_CAR } from '../helpers/camera-runs.js';
import { pixelPipeline, setUpCamera, turnProcessor } from '../helpers/cameras.js';
import {
  answerOf,
  type DescriberServer,
  describerConfig,
  says,
  startDescriberServer,
} from '../helpers/describer-server.js';
import { useEndpointDeliveries } from '../helpers/endpoint-deliveries.js';
import { logger } from '../helpers/workers.js';

const world = useEndpointDeliveries();
const { bench, register, run, events } = world;
const runFrames = runsOn(() => bench);
const SENTENCE = 'A red car has appeared on the right.';
const GOOD = answerOf('appeared', 'car', SENTENCE);
const LIMITS: UseLimits = { keyCalls: 100, keyTokens: 1e6, cameraCalls: 100, cameraTokens: 1e6 };

let server: DescriberServer;
let describer: Describer;
/** queued deliveries and descriptions, in their order */
let order: string[];

beforeAll(async () => {
  server = await startDescriberServer();
});
beforeEach(() => {
  server.received.length = 0;
  server.answer = says(GOOD);
  order = [];
  describer = createDescriber(describerConfig(server.url), { clock: Date.now, wait: async () => {} });
});
afterEach(() => describer.close());
afterAll(() => server.close());

const enqueueDelivery = () =>
  createEnqueueDelivery({
    ...bench,
    endpoints: world.endpoints,
    queue: {
      addDelivery: async ({ deliveryId }) => {
        order.push('delivery');
        world.queued.push(deliveryId);
      },
    },
  });

/** The pipeline of the tests, with facts. */
function namingPipeline() {
  const { pipeline } = pixelPipeline();
  return {
    ...pipeline,
    async compare(input: Parameters<typeof pipeline.compare>[0]) {
      const output = await pipeline.compare(input);
      const noun = { value: 'car', probability: 0.9 };
      const fact = {
        kind: { value: 'appear' as const, probability: 0.9 },
        ...{ noun, nouns: [noun], colour: null, count: { value: 1, probability: 0.9 } },
        ...{ place: null, way: null, regions: [1] },
      };
      const finding: Finding = { ...output.finding, facts: output.finding.regions.length === 0 ? [] : [fact] };
      return { ...output, finding };
    },
  };
}

const processor = (limits: UseLimits = LIMITS) =>
  createDescriptionProcessor({
    ...bench,
    enqueueDelivery: enqueueDelivery(),
    describer,
    decodeLimits: { pixelLimit: 10_000_000 },
    limits,
    clock: Date.now,
    logger,
  });
const describeChange = (changeId: string, limits?: UseLimits) =>
  processor(limits).process(jobPayload({ changeId, traceId: '1'.repeat(32) }));

/** Sends frames to the camera, until nothing waits. @returns ids of the changes that are to be described */
async function confirm(
  settings: object = { describer: { preset: 'security' } },
  frames = [EMPTY, WITH_CAR, WITH_CAR],
  more: Parameters<typeof turnProcessor>[1] = {},
): Promise<string[]> {
  const camera = await setUpCamera(bench, 'gate', settings);
  const ids: string[] = [];
  const turns = turnProcessor(bench, {
    pipeline: namingPipeline(),
    describes: true,
    enqueueDelivery: enqueueDelivery(),
    addDescription: async ({ changeId }) => {
      order.push('description');
      ids.push(changeId);
    },
    ...more,
  });
  await runFrames(
    camera,
    frames.map((frame, i) => [frame, i] as const),
    turns,
  );
  return ids;
}
const first = async (...given: Parameters<typeof confirm>): Promise<string> => {
  const [id] = await confirm(...given);
  if (id === undefined) throw new Error('a change is confirmed');
  return id;
};

describe('A confirmed change', () => {
  it('is queued for the describer once, after its alerts', async () => {
    await register();
    const ids = await confirm(undefined, [EMPTY, WITH_CAR, WITH_CAR, WITH_CAR]);
    expect(ids).toHaveLength(1);
    expect(order).toEqual(['delivery', 'description']);
  });

  it.each([
    ['the camera has no describer', {}, {}, [EMPTY, WITH_CAR, WITH_CAR]],
    ['the service has none', undefined, { describes: false }, [EMPTY, WITH_CAR, WITH_CAR]],
    ['it is not confirmed', undefined, {}, [EMPTY, WITH_CAR]],
    ['nothing has changed', undefined, {}, [EMPTY, EMPTY, EMPTY]],
  ] as const)('is not if %s', async (_why, settings, more, frames) => {
    expect(await confirm(settings, [...frames], more)).toEqual([]);
    expect(await bench.descriptions.overdue(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
  });

  it('has its alert queued, also if the description cannot be', async () => {
    await register();
    await confirm(undefined, undefined, { addDescription: () => Promise.reject(new Error('no queue')) });
    expect(order).toEqual(['delivery']);
    expect(await bench.descriptions.overdue(Number.MAX_SAFE_INTEGER, 10)).toHaveLength(1);
  });

  it('gets an accepted answer as its description and an event, and stays as it was', async () => {
    const id = await first();
    const before = await bench.changes.get(id);
    expect(await describeChange(id)).toMatchObject({ status: 'accepted', sentence: SENTENCE });
    const after = await bench.changes.get(id);
    expect(after).toEqual({ ...before, description: expect.objectContaining({ sentence: SENTENCE, reason: null }) });
    const types = (await events()).map(({ type }) => type);
    expect(types.at(-1)).toBe('change.described');
    expect(types).not.toContain('alert.described');
    expect(await world.cameraEvents()).toEqual([]);
  });

  it('is described once, whatever is queued again', async () => {
    const id = await first();
    await describeChange(id);
    expect(await describeChange(id)).toBeUndefined();
    expect(server.received).toHaveLength(1);
    expect(await bench.descriptions.overdue(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
  });

  it.each([
    ['inverted', answerOf('disappeared', 'car', 'The car has left.'), 'other-event'],
    ['about another thing', answerOf('appeared', 'dog', 'A dog has appeared.'), 'other-noun'],
    ['no JSON', 'hello', 'not-json'],
  ])('keeps the reason of an answer that is %s, without event and message', async (_name, content, code) => {
    await register({ events: ['change.described'] });
    const id = await first();
    server.answer = says(content);
    await describeChange(id);
    expect((await bench.changes.get(id))?.description).toMatchObject({
      status: 'refused',
      sentence: null,
      reason: { code },
    });
    expect((await events()).map(({ type }) => type)).not.toContain('change.described');
    expect(order).toEqual(['description']);
  });

  it('is dropped if it was erased', async () => {
    const id = await first();
    await bench.changes.erase(id);
    expect(await describeChange(id)).toBeUndefined();
    expect(server.received).toHaveLength(0);
  });

  it('is skipped if its frames are gone', async () => {
    const id = await first();
    const best = await bench.results.get((await bench.changes.get(id))?.comparisons.best ?? '');
    await bench.blobs.delete(frameKey(best?.frames.after?.sha256 ?? ''));
    expect(await describeChange(id)).toMatchObject({ status: 'skipped', reason: { code: 'frames-gone' } });
    expect(server.received).toHaveLength(0);
  });

  it('is sent with the privacy masks that the camera has now', async () => {
    const id = await first();
    const everywhere = [
      [0, 0],
      [1, 0],
      [1, 1],
      [0, 1],
    ];
    const zones = [{ id: 'all', type: 'privacy', polygon: everywhere }];
    await setUpCamera(bench, 'gate', { describer: { preset: 'security' }, zones });
    await describeChange(id);
    const [, crop = ''] = server.received[0]?.body.split('base64,') ?? [];
    const { channels } = await sharp(Buffer.from(crop.split('"')[0] ?? '', 'base64')).stats();
    expect(channels.map(({ max }) => max)).toEqual([0, 0, 0]);
  });

  it.each(['keyCalls', 'cameraCalls', 'keyTokens', 'cameraTokens'] as const)(
    'is skipped above the limit %s',
    async (limit) => {
      const [one, two] = [
        await first(),
        await first(undefined, [EMPTY, WITH_CAR, WITH_CAR, EMPTY, EMPTY, WITH_CAR, WITH_CAR]),
      ];
      const limits = { ...LIMITS, [limit]: 1 };
      expect(await describeChange(one, limits)).toMatchObject({ status: 'accepted' });
      expect(await describeChange(two, limits)).toMatchObject({
        status: 'skipped',
        reason: { code: 'limit', detail: expect.stringContaining('(1 per hour) is reached') },
      });
      expect(server.received).toHaveLength(1);
    },
  );
});

describe('The description', () => {
  it('goes to endpoints that ask for it, and to no other', async () => {
    await register({}, '/alerts');
    await register({ events: ['change.described'], cameras: ['gate'] }, '/words');
    await register({ events: ['change.described'], cameras: ['yard'] }, '/elsewhere');
    const id = await first();
    for (const delivery of world.queued.splice(0)) await run(delivery);
    await describeChange(id);
    for (const delivery of world.queued) await run(delivery);
    expect(world.receiver.received.map(({ path }) => path)).toEqual(['/alerts', '/words']);
    expect(JSON.parse(world.receiver.received[1]?.body ?? '')).toMatchObject({
      type: 'change.described',
      data: { change: { id }, description: { sentence: SENTENCE, model: 'qwen-vl' } },
    });
  });

  it.each(['slack', 'ntfy'] as const)('is a plain text in the format %s', async (format) => {
    await register({ events: ['change.described'], format }, '/topic');
    await describeChange(await first());
    for (const delivery of world.queued) await run(delivery);
    expect(world.receiver.received[0]?.body).toContain(SENTENCE);
  });

  it('silences no alert that arrives after it', async () => {
    await register({ events: ['change.opened', 'change.described'] });
    const id = await first();
    const [alert = ''] = world.queued.splice(0);
    await describeChange(id);
    const [description = ''] = world.queued.splice(0);
    expect(await run(description)).toEqual({ kind: 'delivered' });
    expect(await run(alert)).toEqual({ kind: 'delivered' });
    expect(world.receiver.received.map(({ body }) => JSON.parse(body).type)).toEqual([
      'change.described',
      'change.opened',
    ]);
  });
});

describe('Recovery', () => {
  it('queues the description of a turn whose worker died right after saving it, once', async () => {
    const id = await first(undefined, undefined, { addDescription: () => Promise.reject(new Error('killed')) }).catch(
      async () => (await bench.descriptions.overdue(Number.MAX_SAFE_INTEGER, 1))[0] ?? '',
    );
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
      expect(await queue.states('description', [id])).toEqual(['absent']);
      await recover();
      await recover();
      expect(await queue.states('description', [id])).toEqual(['held']);
      await describeChange(id);
      expect(await bench.descriptions.overdue(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
    } finally {
      await queue.close();
    }
  });
});
