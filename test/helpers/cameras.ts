/** A camera on a real Redis, and a pipeline that compares pixels: different pixels are a change and give its region. */
import { createHash } from 'node:crypto';
import sharp from 'sharp';
import { frameKey } from '../../src/base/blobs.js';
import { newId } from '../../src/base/ids.js';
import { createPreviewStore } from '../../src/camera/fold/previews.js';
import type { StoredCamera } from '../../src/camera/settings/camera.js';
import { type CameraSettings, checkSettings } from '../../src/camera/settings/settings.js';
import { createFrameFetcher } from '../../src/frames/fetch.js';
import { enqueueFrame } from '../../src/jobs/enqueue-frame.js';
import type { Comparison, Finding } from '../../src/schemas/comparison.js';
import { createTurnProcessor, type TurnDependencies } from '../../src/workers/camera-turn.js';
import { createFetchLimits } from '../../src/workers/fetch-limits.js';
import { createLifeCycle, type LifeCycleDependencies } from '../../src/workers/life-cycle.js';
import { type Bench, jobGuard, logger } from './workers.js';

export const WIDTH = 96;
export const HEIGHT = 64;

export interface Painted {
  /** filled rectangles [x, y, width, height] in pixels, with their colour */
  readonly things?: readonly (readonly [number, number, number, number, [number, number, number]])[];
  readonly background?: readonly [number, number, number];
  readonly width?: number;
  readonly height?: number;
  /** varies from pixel to pixel, as the picture of a sensor does; without it the frame is a recorder's card */
  readonly grain?: boolean;
}

/** A frame as PNG, which is lossless: equal pixels stay equal. */
export function picture(painted: Painted = {}) {
  const { things = [], background = [90, 120, 150], width = WIDTH, height = HEIGHT, grain = false } = painted;
  const data = Buffer.alloc(width * height * 3);
  for (let i = 0; i < data.length; i += 3) {
    const shade = grain ? (i / 3) % 5 : 0;
    data.set(
      background.map((level) => level + shade),
      i,
    );
  }
  for (const [left, top, w, h, colour] of things) {
    for (let y = top; y < top + h; y++) for (let x = left; x < left + w; x++) data.set(colour, (y * width + x) * 3);
  }
  return sharp(data, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
}

export const RED: [number, number, number] = [220, 40, 40];
export const GREEN: [number, number, number] = [40, 200, 40];

/** Largest difference of a channel, 0..255, that is no change. */
const TOLERANCE = 40;

export function pixelPipeline(options: { onCompare?: () => Promise<void> | void } = {}) {
  const calls: Parameters<TurnDependencies['pipeline']['compare']>[0][] = [];
  const pipeline: TurnDependencies['pipeline'] = {
    async compare(input) {
      calls.push(input);
      await options.onCompare?.();
      const [before, after] = await Promise.all(
        [input.before, input.after].map((bytes) =>
          sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true }),
        ),
      );
      if (before === undefined || after === undefined) throw new Error('two frames in, two frames out');
      return { finding: findingOf(before, after), heatmaps: null, timings: { decode: 1 } };
    },
    operatingPoints: () => [
      { false_alarm_rate: 0.001, threshold: 0.9 },
      { false_alarm_rate: 0.1, threshold: 0.2 },
    ],
  };
  return { pipeline, calls };
}

/** As pixelPipeline: what differs is a person in red. */
export function walkingPipeline() {
  const { pipeline, calls } = pixelPipeline();
  const sure = (value: string) => ({ value, probability: 0.95 });
  const person = {
    noun: sure('person'),
    colour: sure('red'),
    class: sure('person'),
    count: { value: 1, probability: 1 },
  };
  const walking: TurnDependencies['pipeline'] = {
    ...pipeline,
    async compare(input) {
      const compared = await pipeline.compare(input);
      const { finding } = compared;
      const facts = finding.regions.map(({ id }) => ({ kind: sure('appear'), ...person, regions: [id] }));
      return { ...compared, finding: { ...finding, facts: facts as unknown as NonNullable<Finding['facts']> } };
    },
  };
  return { pipeline: walking, calls };
}

type Raw = { data: Buffer; info: { width: number; height: number } };

function findingOf(before: Raw, after: Raw): Finding {
  const { width, height } = after.info;
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = (y * width + x) * 3;
      const differs = [0, 1, 2].some(
        (c) => Math.abs((before.data[at + c] ?? 0) - (after.data[at + c] ?? 0)) > TOLERANCE,
      );
      if (!differs) continue;
      [left, top] = [Math.min(left, x), Math.min(top, y)];
      [right, bottom] = [Math.max(right, x), Math.max(bottom, y)];
    }
  }
  const changed = right >= 0;
  const caption = changed ? 'something appeared' : 'nothing has changed';
  const box = {
    x: left / width,
    y: top / height,
    width: (right - left + 1) / width,
    height: (bottom - top + 1) / height,
  };
  return {
    verdict: changed ? 'change' : 'none',
    kind: changed ? 'appear' : 'none',
    nuisance: [],
    caption,
    caption_score: 0.9,
    words: caption.split(' ').map((text) => ({ text, score: 0.9 })),
    confidence: changed ? 0.95 : 0.05,
    severity: changed ? 'medium' : 'info',
    regions: changed ? [{ id: 1, side: 'after', box, area: box.width * box.height, score: 0.9 }] : [],
    model: { name: 'pixels', version: '1', sha256: '0'.repeat(64), provider: 'cpu' },
  };
}

/** @param settings every frame is examined, unless they say otherwise */
export async function setUpCamera(
  bench: Bench,
  id: string,
  settings: object = {},
  change: Partial<StoredCamera> = {},
): Promise<StoredCamera> {
  const checked: CameraSettings = checkSettings({ examine_every_s: 0, ...settings });
  const masked = checked.zones.some(({ type }) => type === 'privacy');
  const camera: StoredCamera = {
    id,
    settings: checked,
    reference: null,
    mask: masked ? newId('msk') : null,
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
    ...change,
  };
  await bench.cameras.put(camera);
  return camera;
}

/** Accepts a frame as the API does, but unmasked (the turn masks it). @returns the id of the comparison */
export async function sendFrame(
  bench: Bench,
  camera: StoredCamera,
  frame: Uint8Array,
  capturedAt: number,
  change: { deadline?: number | null; callbackUrl?: string | null; acceptedAt?: number } = {},
): Promise<string> {
  const sha256 = createHash('sha256').update(frame).digest('hex');
  await bench.blobs.put(frameKey(sha256), frame);
  const comparisonId = newId('cmp');
  await enqueueFrame(
    camera,
    {
      comparisonId,
      traceId: '0'.repeat(32),
      apiKeyId: 'key_test',
      owner: 'key_test',
      frame: { from: 'stored', sha256, bytes: frame.byteLength, contentType: 'image/png' },
      capturedAt,
      acceptedAt: change.acceptedAt ?? Date.now(),
      deadline: change.deadline ?? null,
      callbackUrl: change.callbackUrl ?? null,
    },
    { ...bench, queue: { addTurn: async () => {} } },
  );
  return comparisonId;
}

let tokens = 0;

export type TurnOptions = Partial<TurnDependencies> &
  Partial<Pick<LifeCycleDependencies, 'results' | 'blobs' | 'enqueueDelivery'>>;

/**
 * The processor of a camera's turns on the bench's stores; deliveries are not queued unless `enqueueDelivery` is given.
 */
export function turnProcessor(bench: Bench, { enqueueDelivery, ...change }: TurnOptions = {}) {
  const outbound = {
    fetchImage: () => Promise.reject(new Error('no outside')),
    download: () => Promise.reject(new Error('no outside')),
    post: () => Promise.reject(),
    mail: () => Promise.reject(),
    askPermission: () => Promise.reject(),
    close: async () => {},
  };
  return createTurnProcessor({
    ...bench,
    // As in a worker of its own.
    guard: jobGuard(bench),
    pipeline: pixelPipeline().pipeline,
    fetchFrame: createFrameFetcher({
      ...bench,
      outbound,
      s3: undefined,
      config: { frameLimit: 10_000_000, pixelLimit: 50_000_000 },
    }),
    fetchLimits: createFetchLimits(Date.now),
    decodeLimits: { pixelLimit: 50_000_000 },
    previews: createPreviewStore({ ...bench, decodeLimits: { pixelLimit: 50_000_000 } }),
    lifeCycle: createLifeCycle({
      results: change.results ?? bench.results,
      blobs: change.blobs ?? bench.blobs,
      clock: change.clock ?? Date.now,
      logger,
      enqueueDelivery: enqueueDelivery ?? { ofComparison: async () => {}, ofAlert: async () => {} },
    }),
    queue: { addTurn: async () => {} },
    holdMs: 60_000,
    clock: Date.now,
    token: () => `token${tokens++}`,
    logger,
    ...change,
  });
}

/** Processes the camera's turns until no frame waits. */
export async function workOff(
  camera: string,
  processor: ReturnType<typeof createTurnProcessor>,
  job = 'job',
): Promise<void> {
  for (;;) {
    const outcome = await processor.process({ v: 2, camera }, { job });
    if (outcome.kind === 'idle') return;
    if (outcome.kind === 'later') throw new Error('the turn has to be retried');
  }
}

export async function readComparison(bench: Bench, id: string): Promise<Comparison> {
  const stored = await bench.results.get(id);
  if (stored === undefined) throw new Error(`there is no ${id}`);
  return stored.comparison;
}
