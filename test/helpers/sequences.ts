/** A synthetic camera of 320 x 180 px, and its frames through the library call, with everything in memory. */
import { createHash } from 'node:crypto';
import sharp from 'sharp';
import type { BlobStore } from '../../src/base/blobs.js';
import { frameKey } from '../../src/base/blobs.js';
import { ScenedeltaError } from '../../src/base/errors.js';
import { seededRandom } from '../../src/base/random.js';
import type { FrameDependencies } from '../../src/camera/fold/examine.js';
import { createPreviewStore } from '../../src/camera/fold/previews.js';
import { type StepResult, stepSequence } from '../../src/camera/fold/step.js';
import type { StoredCamera } from '../../src/camera/settings/camera.js';
import { checkSettings } from '../../src/camera/settings/settings.js';
import type { CameraState } from '../../src/camera/state/state.js';
import { initialCameraState } from '../../src/camera/state/state.js';
import { decodeFrame } from '../../src/frames/decode.js';
import type { StoredFrame } from '../../src/frames/keep.js';
import { decodePreview } from '../../src/frames/preview.js';
import { tamperedFinding } from '../../src/pipeline/finding.js';
import type { PairInput } from '../../src/pipeline/pair.js';
import { pixelPipeline } from './cameras.js';

const WIDTH = 320;
export const HEIGHT = 180;

export interface Scene {
  /** another number is another place */
  readonly place?: number;
  /** seed of the sensor's noise */
  readonly noise?: string;
  /** standard deviation of the noise, levels */
  readonly sigma?: number;
  readonly gain?: number;
  /** vertical shift of the view per line, px */
  readonly shift?: (y: number) => number;
  /** filled rectangles [x, y, width, height] in px with their levels of red, green and blue */
  readonly things?: readonly (readonly [number, number, number, number, readonly [number, number, number]])[];
  /** from this line on the frame is grey, as decoders paint what a lost packet held */
  readonly greyFrom?: number;
}

/** Normal noise, drawn once: each frame starts at a place of its own. */
const NOISE = (() => {
  const random = seededRandom('sensor');
  return Float32Array.from({ length: 900_001 }, () => random.normal());
})();

/** An edge that is two pixels wide, as a lens draws it. */
const edge = (at: number): number => Math.tanh(9 * Math.sin(Math.PI * at));

/** Level of a place of hills and buildings: sums of products of a function of x and one of y. */
function levels(place: number) {
  const columns = Array.from({ length: WIDTH }, (_, x) => [
    Math.sin(x / (31 + 7 * place)),
    edge(x / (60 + 10 * place)),
  ]);
  return (y: number): Float32Array => {
    const [hill, wall] = [40 * Math.cos(y / (15 + 3 * place)), 25 * edge(y / 30)];
    return Float32Array.from(columns, ([hillX = 0, wallX = 0]) => 118 + hill * hillX + wall * wallX);
  };
}

const GREY = 128;

/** @returns a JPEG */
export function frameOf(scene: Scene = {}): Promise<Buffer> {
  const { place = 0, noise = 'frame', sigma = 1.5, gain = 1, shift = () => 0, things = [], greyFrom = HEIGHT } = scene;
  const data = new Uint8ClampedArray(WIDTH * HEIGHT * 3).fill(GREY);
  const rowOf = levels(place);
  let n = Math.floor(seededRandom(noise).uniform(0, NOISE.length - WIDTH * HEIGHT * 3));
  for (let y = 0, i = 0; y < greyFrom; y++) {
    const shifted = y + shift(y);
    const row = rowOf(shifted);
    const here = things.filter(([, top, , height]) => shifted >= top && shifted < top + height);
    const colours = [0, 1, 2].map((c) => {
      const channel = row.slice();
      for (const [left, , width, , colour] of here) channel.fill(colour[c] as number, left, left + width);
      return channel;
    });
    for (let x = 0; x < WIDTH; x++) {
      for (let c = 0; c < 3; c++, i++, n++) {
        data[i] = (colours[c]?.[x] as number) * gain + sigma * (NOISE[n] as number);
      }
    }
  }
  const raw = { width: WIDTH, height: HEIGHT, channels: 3 } as const;
  return sharp(data, { raw }).jpeg({ quality: 90 }).toBuffer();
}

/** 2026-06-01, noon, epoch ms */
const NOON = Date.UTC(2026, 5, 1, 12);

/** Blobs in memory; frames that nothing refers to can be dropped with `keep`. */
function memoryBlobs() {
  const kept = new Map<string, Uint8Array>();
  const blobs: BlobStore = {
    put: async (key, bytes) => void kept.set(key, bytes),
    get: async (key) => kept.get(key),
    delete: async (key) => void kept.delete(key),
    sweep: async () => 0,
  };
  return { blobs, kept };
}

const FOREIGN = [{ name: 'foreign_picture', score: 0.95 }] as const;

/** Whether the brightness of two frames is unrelated. */
async function showOtherViews({ before, after }: PairInput): Promise<boolean> {
  const [a, b] = await Promise.all(
    [before, after].map(async (bytes) => {
      const levels = [...(await sharp(bytes).resize(32, 18, { fit: 'fill' }).greyscale().raw().toBuffer())];
      const mean = levels.reduce((sum, level) => sum + level, 0) / levels.length;
      return levels.map((level) => level - mean);
    }),
  );
  const product = (x: number[] = [], y: number[] = []) => x.reduce((sum, level, i) => sum + level * (y[i] ?? 0), 0);
  return product(a, b) < 0.3 * Math.sqrt(product(a, a) * product(b, b));
}

/**
 * A camera with these settings, before its first frame.
 * @param comparer a real pipeline; absent = one that compares pixels
 */
export function sequence(settings: object = {}, comparer?: FrameDependencies['pipeline']) {
  const camera: StoredCamera = {
    id: 'gate',
    settings: checkSettings(settings),
    reference: null,
    mask: null,
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
  };
  const { blobs, kept } = memoryBlobs();
  const decodeLimits = { pixelLimit: 50_000_000 };
  const pixels = pixelPipeline();
  const pipeline = comparer ?? {
    ...pixels.pipeline,
    async compare(input: PairInput) {
      // As the real one, it refuses frames without pixels.
      await decodeFrame(input.after, { ...decodeLimits, field: 'after' });
      const compared = await pixels.pipeline.compare(input);
      return (await showOtherViews(input)) ? { ...compared, finding: tamperedFinding(FOREIGN) } : compared;
    },
  };
  const deps = {
    blobs,
    decodeLimits,
    pipeline,
    previews: createPreviewStore({ blobs, decodeLimits }),
    async fetchFrame(ref: StoredFrame['ref'] | { from: 'url' | 's3' }): Promise<StoredFrame> {
      const bytes = ref.from === 'stored' ? kept.get(frameKey(ref.sha256)) : undefined;
      if (bytes === undefined || ref.from !== 'stored') throw new ScenedeltaError('gone', 'the frame is not stored');
      return { bytes, ref };
    },
  };
  let state: CameraState = initialCameraState();
  let count = 0;

  return {
    /** inputs of the pipeline: one per frame that was examined and had a "before" */
    calls: pixels.calls,
    state: () => state,
    /**
     * Processes a frame.
     * @param seconds capture time after noon
     * @throws ScenedeltaError as stepSequence; the state stays as it was
     */
    async step(bytes: Buffer, seconds: number): Promise<StepResult> {
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const frame = async () => {
        await blobs.put(frameKey(sha256), bytes);
        return {
          bytes,
          ref: { from: 'stored', sha256, bytes: bytes.byteLength, contentType: 'image/jpeg' } as const,
        };
      };
      const preview = () => decodePreview(bytes, { ...decodeLimits, field: 'frame' });
      const comparisonId = `cmp_${String(++count).padStart(26, '0')}`;
      const at = NOON + Math.round(seconds * 1000);
      const signal = new AbortController().signal;
      const given = { camera, state, at, signal, events: [], alerting: true, comparisonId, content: sha256 };
      const result = await stepSequence({ ...given, preview, frame }, deps);
      // As stored: plain JSON.
      state = JSON.parse(JSON.stringify(result.state));
      // The last examined frame and "before" are kept, as retention does for the frames in use.
      const used = JSON.stringify(state);
      for (const key of kept.keys()) if (!used.includes(key.slice(-64))) kept.delete(key);
      return result;
    },
  };
}

/** Whether the frame got the answer of the last examined one. */
export const isQuiet = ({ cameraFrame }: StepResult): boolean => cameraFrame.nothing_new_since !== undefined;
export const noteCodes = ({ cameraFrame }: StepResult): string[] => cameraFrame.notes.map(({ code }) => code);
