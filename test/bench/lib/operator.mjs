/**
 * Cameras of one day as their operator knows them: frames go through the turns, the limits and the deliveries of the
 * service, by a clock that the caller moves, and each message that a receiver gets is kept.
 */
import { createHash, randomBytes } from 'node:crypto';
import { dist } from './service.mjs';

const RETENTION_MS = 24 * 3_600_000;
const HOLD_MS = 60_000;
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const LOGIN_KEY = Buffer.alloc(32, 1);

/**
 * @param {{ redisUrl: string, dataDir: string }} service whose Redis and folder are used
 * @param {number} startedAt epoch ms
 */
export async function openDay({ redisUrl, dataDir }, startedAt) {
  const [{ loadConfig }, { createLogger }, { Pipeline }, { createStores }, { connectRedis }] = await Promise.all(
    ['process/config', 'process/logger', 'pipeline/compare', 'stores/create', 'stores/redis/redis'].map((file) =>
      dist(`${file}.js`),
    ),
  );
  let now = startedAt;
  const clock = () => now;
  const config = loadConfig({ DATA_DIR: dataDir, REDIS_URL: redisUrl });
  const logger = createLogger({ level: 'error', name: 'bench' });
  const redis = connectRedis(redisUrl, { role: 'consumer', logger });
  const pipeline = remembering(await Pipeline.start({ config, logger, onlyDefault: true, warmUp: false }));
  const { createEndpointStore } = await dist('stores/delivery/endpoints.js');
  const stores = { ...(await createStores(config, redis)), endpoints: createEndpointStore(redis, { now: clock }) };
  const waiting = [];
  const messages = [];
  const base = { ...stores, config, logger, clock, redis, pipeline };
  const queue = { addDelivery: async ({ deliveryId }) => waiting.push(deliveryId), addTurn: async () => {} };
  const { createEnqueueDelivery } = await dist('jobs/enqueue-delivery.js');
  const enqueueDelivery = createEnqueueDelivery({ ...base, queue });
  const turns = await createTurns({ ...base, queue, enqueueDelivery });
  const deliveries = await createDeliveries(base, ({ url, text }) =>
    messages.push({ to: url.split('/').at(-1), ...JSON.parse(text) }),
  );
  const { createDigests } = await dist('workers/deliveries/digests.js');
  const digests = createDigests({ ...base, enqueueDelivery });
  const { checkSettings } = await dist('camera/settings/settings.js');
  const { withPreset } = await dist('camera/settings/presets.js');
  const { settingsWith } = await dist('endpoints/settings.js');
  const { sealSecrets } = await dist('endpoints/secrets.js');
  const { newId } = await dist('base/ids.js');
  return {
    pipeline,
    /** @param {object} settings as in a request */
    async addCamera(id, settings) {
      const at = new Date(now).toISOString();
      const camera = { id, settings: checkSettings(withPreset(settings)), reference: null, mask: null };
      await stores.cameras.put({ ...camera, created_at: at, updated_at: at });
    },
    /** @param {string} name `to` of its messages */
    async addEndpoint(name, settings) {
      const id = newId('end', now);
      const url = `https://receiver.example/${name}`;
      const signing = [{ secret: SECRET, expiresAt: null }];
      const sealed = sealSecrets(id, { url, authorization: null, signing }, LOGIN_KEY);
      const at = new Date(now).toISOString();
      const endpoint = { id, settings: settingsWith(settings), shownUrl: url, sealed, created_at: at, updated_at: at };
      await stores.endpoints.create(endpoint);
    },
    moveTo(time) {
      now = time;
    },
    /** A frame of a camera, now. */
    frame: (id, bytes) => turns(id, bytes),
    /** @returns the messages that receivers have got since the last call */
    async received() {
      await digests();
      for (const deliveryId of waiting.splice(0)) await deliveries(deliveryId);
      return messages.splice(0);
    },
    changesOf: async (camera) => (await stores.changes.list({ camera, limit: 10_000, visibility: 'everything' })).items,
    async close() {
      await pipeline.close();
      redis.disconnect();
    },
  };
}

/** Equal pairs are compared once: cameras that differ by their rules alone see the same. */
function remembering(pipeline) {
  const found = new Map();
  let compared = 0;
  const keyOf = ({ signal: _1, afterDecoded: _2, before, after, camera: _3, ...rest }) => {
    const hash = createHash('sha256').update(before).update(after);
    return hash.update(JSON.stringify(rest)).digest('hex');
  };
  return {
    compare: async (input) => {
      const key = keyOf(input);
      if (!found.has(key)) {
        compared++;
        if (found.size > 64) found.clear();
        found.set(key, await pipeline.compare(input));
      }
      return found.get(key);
    },
    operatingPoints: (model) => pipeline.operatingPoints(model),
    compared: () => compared,
    close: () => pipeline.close(),
  };
}

/** @returns processes one frame of a camera */
async function createTurns(deps) {
  const { blobs, results, cameras, config, clock } = deps;
  const { createTurnProcessor } = await dist('workers/camera-turn.js');
  const { createTurnStore } = await dist('stores/cameras/turns.js');
  const { createLifeCycle } = await dist('workers/life-cycle.js');
  const { createFetchLimits } = await dist('workers/fetch-limits.js');
  const { createPreviewStore } = await dist('camera/fold/previews.js');
  const { createFrameFetcher } = await dist('frames/fetch.js');
  const { createJobGuard } = await dist('jobs/job-guard.js');
  const { createRunStore } = await dist('stores/redis/runs.js');
  const { enqueueFrame } = await dist('jobs/enqueue-frame.js');
  const { storeFrame } = await dist('frames/keep.js');
  const { newId } = await dist('base/ids.js');
  const worker = 'wrk_bench';
  const runs = createRunStore(deps.redis, worker);
  const processor = createTurnProcessor({
    ...deps,
    turns: createTurnStore(deps.redis, { retentionMs: RETENTION_MS, now: clock }),
    lifeCycle: createLifeCycle(deps),
    fetchFrame: createFrameFetcher({ ...deps, outbound: {}, config }),
    fetchLimits: createFetchLimits(clock),
    decodeLimits: config,
    previews: createPreviewStore({ blobs, decodeLimits: config }),
    guard: createJobGuard({ ...deps, runs }),
    holdMs: HOLD_MS,
    token: () => randomBytes(8).toString('hex'),
    worker,
  });
  return async (id, bytes) => {
    const camera = await cameras.get(id);
    const { ref } = await storeFrame(blobs, { bytes, contentType: 'image/jpeg' });
    const now = clock();
    const accepted = { comparisonId: newId('cmp', now), traceId: '0'.repeat(32), apiKeyId: 'bench', owner: 'bench' };
    const times = { capturedAt: now, acceptedAt: now, deadline: null, callbackUrl: null };
    await enqueueFrame(camera, { ...accepted, ...times, frame: ref }, { results, queue: deps.queue });
    const outcome = await processor.process({ v: 2, camera: id }, { job: `bench-${id}` });
    if (outcome.kind !== 'worked') throw new Error(`${id}: ${JSON.stringify(outcome)}`);
    const { comparison } = await results.get(accepted.comparisonId);
    if (comparison.status !== 'finished') throw new Error(`${id}: ${JSON.stringify(comparison.error)}`);
  };
}

/** @param onRequest gets each request to a receiver. @returns sends one delivery */
async function createDeliveries(deps, onRequest) {
  const { createDeliveryProcessor } = await dist('workers/deliveries/delivery-job.js');
  const { createDeliveryLimits } = await dist('workers/deliveries/delivery-limits.js');
  const { createPictures } = await dist('frames/change-picture.js');
  const { jobPayload } = await dist('jobs/payloads.js');
  const ok = { status: 200, error: null, retryAfterMs: null, permanent: false };
  const post = async (url, { body }) => {
    onRequest({ url, text: String(body) });
    return ok;
  };
  const processor = createDeliveryProcessor({
    ...deps,
    outbound: { post },
    limits: createDeliveryLimits(deps.clock),
    loginKey: LOGIN_KEY,
    secret: SECRET,
    links: { baseUrl: 'https://cameras.example', key: Buffer.alloc(32), framesMs: HOLD_MS, heatmapsMs: HOLD_MS },
    random: () => 0.5,
    patiently: (run) => run(),
    pictureOf: createPictures({ ...deps, decodeLimits: deps.config }),
  });
  return async (deliveryId) => {
    const outcome = await processor.process(jobPayload({ deliveryId, traceId: '0'.repeat(32) }));
    if (outcome.kind !== 'delivered' && outcome.kind !== 'dropped') throw new Error(`delivery: ${outcome.kind}`);
  };
}
