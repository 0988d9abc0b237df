/** Deliveries to endpoints on real stores, with a receiver on this machine and a clock that tests move. */
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import type { EndpointPatch } from '../../src/endpoints/settings.js';
import { createPictures } from '../../src/frames/change-picture.js';
import { createEnqueueDelivery } from '../../src/jobs/enqueue-delivery.js';
import { jobPayload } from '../../src/jobs/payloads.js';
import { createOutboundClient, type OutboundClient } from '../../src/outbound/client.js';
import { createEndpointStore, type EndpointStore } from '../../src/stores/delivery/endpoints.js';
import { KEYS } from '../../src/stores/redis/keys.js';
import { createDeliveryProcessor } from '../../src/workers/deliveries/delivery-job.js';
import { createDeliveryLimits } from '../../src/workers/deliveries/delivery-limits.js';
import { setUpCamera } from './cameras.js';
import { foundChange, opening, saveTurnChanges, storedAlert } from './changes.js';
import { KEY, storedEndpoint } from './endpoints.js';
import { type Received, type Receiver, startReceiver } from './receiver.js';
import { logger, useBench } from './workers.js';

/** Limit for tests of receivers that hang. */
export const TIMEOUT_MS = 400;

/**
 * For the tests of one file. The members of `world` exist from `beforeAll` on.
 * @param timeoutMs limit of one request to the receiver
 */
export function useEndpointDeliveries(timeoutMs = TIMEOUT_MS) {
  const bench = useBench();
  const world = {
    answer: (_request: Received, response: ServerResponse): unknown => response.end(),
    now: 0,
    queued: [] as string[],
    receiver: {} as Receiver,
    endpoints: {} as EndpointStore,
  };
  let outbound: OutboundClient;
  let limits: ReturnType<typeof createDeliveryLimits>;

  beforeAll(async () => {
    world.receiver = await startReceiver((request, response) => void world.answer(request, response));
    outbound = createOutboundClient({ outboundAllow: ['127.0.0.0/8'], outboundTimeoutMs: timeoutMs });
    world.endpoints = createEndpointStore(bench.redis, { now: () => world.now });
  });
  beforeEach(async () => {
    await setUpCamera(bench, 'gate');
    world.now = Date.now();
    world.queued = [];
    world.receiver.received.length = 0;
    world.answer = (_request, response) => response.end();
    limits = createDeliveryLimits(() => world.now);
  });
  afterAll(async () => {
    await outbound.close();
    await world.receiver.close();
  });

  const queue = {
    addDelivery: async ({ deliveryId }: { deliveryId: string }) => void world.queued.push(deliveryId),
    forget: async () => {},
  };
  const status = (code: number, headers: Record<string, string> = {}) => {
    world.answer = (_request, response) => response.writeHead(code, headers).end();
  };
  const processor = () =>
    createDeliveryProcessor({
      ...bench,
      endpoints: world.endpoints,
      outbound,
      limits,
      loginKey: KEY,
      secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
      links: { baseUrl: 'https://cameras.example', key: Buffer.alloc(32), framesMs: 1_000, heatmapsMs: 1_000 },
      clock: () => world.now,
      random: () => 0.5,
      logger,
      pictureOf: createPictures({ ...bench, decodeLimits: { pixelLimit: 1_000_000 } }),
      cropOf: async () => Buffer.from('JPEG of a crop'),
    });
  const run = (deliveryId: string) => processor().process(jobPayload({ deliveryId, traceId: '0'.repeat(32) }));

  const register = async (given: EndpointPatch = {}, path = '/hook?token=1', options = {}) => {
    const endpoint = storedEndpoint(world.receiver.url + path, given, options);
    await world.endpoints.create(endpoint);
    return endpoint;
  };
  /** Saves an alert as a turn does, and hands it to its receivers. @returns the alert and the ids of its deliveries */
  const alert = async (
    given: Parameters<typeof storedAlert>[1] = {},
    change: Parameters<typeof foundChange>[0] = {},
  ) => {
    const found = foundChange(change);
    const stored = storedAlert(found, { url: null, ...given });
    await saveTurnChanges(bench.redis, { changes: [opening(found)], alerts: [stored] });
    world.queued = [];
    await createEnqueueDelivery({ ...bench, endpoints: world.endpoints, queue }).ofAlert(stored);
    return { stored, ids: [...world.queued] };
  };
  const one = async (...given: Parameters<typeof alert>) => {
    const [id] = (await alert(...given)).ids;
    if (id === undefined) throw new Error('one delivery is queued');
    return id;
  };
  const events = async () =>
    (await bench.redis.xrange(KEYS.events, '-', '+')).map(([, [, json]]) => JSON.parse(json ?? ''));
  const cameraEvents = async () => (await bench.changes.cameraEvents('gate')).map(({ type }) => type);

  return Object.assign(world, { alert, bench, cameraEvents, events, one, queue, register, run, status });
}
