/** The publisher with a real API on a real Redis, and a real broker, for the tests of one file. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest } from '@jest/globals';
import type { StoredCamera } from '../../../src/camera/settings/camera.js';
import { createWorkerRegistry } from '../../../src/stores/redis/workers.js';
import { setUpCamera } from '../../helpers/cameras.js';
import { eventually } from '../../helpers/eventually.js';
import { type Mosquitto, startMosquitto, subscribe } from '../../helpers/mosquitto.js';
import { startTestPublisher } from '../../helpers/publisher.js';
import { startApi } from '../../helpers/real-api.js';
import type { useBench } from '../../helpers/workers.js';

export const HALF = (left: number) => [
  [left, 0],
  [left + 0.5, 0],
  [left + 0.5, 1],
  [left, 1],
];
export const SETTINGS = {
  name: 'Gate <b>3</b>',
  before: 'reference',
  alerts: { confirm_frames: 1 },
  zones: [
    { id: 'left', name: 'Loading bay 2', type: 'include', polygon: HALF(0) },
    { id: 'right.1', name: null, type: 'include', polygon: HALF(0.5) },
  ],
};
export const OWN = 'sd/cameras/gate';
export const DISCOVERY = 'homeassistant/device/sd_gate/config';

interface Stack {
  broker: Mosquitto;
  /** a subscriber to all topics */
  home: Awaited<ReturnType<typeof subscribe>>;
  publisher: { close(): Promise<void> };
  camera: StoredCamera;
  /** answers in place of the worker that pulls a picture: the id of its comparison */
  pulled: () => Promise<string>;
}

/** Starts all of it before the tests; the fields are those of the current test. */
export function usePublisher(bench: ReturnType<typeof useBench>) {
  // The API is built in this process, which a busy machine does slowly.
  jest.setTimeout(120_000);
  let api: Awaited<ReturnType<typeof startApi>>;
  let file: string;
  const parts = { pulled: () => Promise.reject(new Error('not asked')) } as unknown as Stack;
  const start = async () => {
    const { secret } = await api.stores.apiKeys.create({ name: 'mqtt', scopes: ['compare', 'admin'] });
    return startTestPublisher(api.url, secret, parts.broker.url, file);
  };
  beforeAll(async () => {
    parts.broker = await startMosquitto();
    api = await startApi(
      bench,
      { AUTH: 'on', PUBLIC_URL: 'https://cameras.example' },
      { ask: (() => parts.pulled()) as never },
    );
    await bench.redis.flushall();
  });
  afterAll(async () => {
    await api.close();
    await parts.broker.close();
  });
  beforeEach(async () => {
    await parts.broker.stop();
    await parts.broker.start();
    parts.home = await subscribe(parts.broker.url);
    parts.camera = await setUpCamera(bench, 'gate', SETTINGS);
    await createWorkerRegistry(bench.redis).beat({
      ...{ id: 'w', host: 'h', pid: 1, started_at: new Date().toISOString() },
      models: [{} as never],
    });
    file = join(bench.folder, `${randomUUID()}.json`);
    parts.publisher = await start();
    await eventually(() => expect(parts.home.last('sd/status')).toBe('online'));
  });
  afterEach(async () => {
    await parts.publisher.close();
    await parts.home.close();
  });
  return Object.assign(parts, {
    start,
    /** @returns the position of the state file */
    positionAt: async () => JSON.parse(await readFile(file, 'utf8')).position,
    /** @returns the id of the last alert in the stream */
    lastAlert: async () =>
      (await bench.redis.xrevrange('sd:events', '+', '-')).find(([, [, json]]) => /"alert\./.test(json ?? ''))?.[0],
    alerts: () => parts.home.of(`${OWN}/alert`).map(({ payload }) => JSON.parse(payload.toString())),
  });
}
