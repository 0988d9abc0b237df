/**
 * Entry of an inference thread. It owns its sessions, because a run blocks its thread until it ends: nothing else may live
 * here. It serves one request after the other and ends by itself when told to (terminating it within a run would abort the
 * whole process).
 */
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { BundleError } from '../model/bundle.js';
import { Captioner } from '../model/captioner.js';
import type { Difference, Features } from '../model/graph-io.js';
import type { Bundle, BundleManifest } from '../model/manifest.js';
import { resizeNormalised } from '../model/preprocess.js';
import { chooseProvider, type Provider } from '../model/session.js';
import { examine } from '../viewpoint/examine.js';
import { warmUpExamine } from '../viewpoint/warm-up.js';
import { warpToBefore } from '../viewpoint/warp.js';
import { openBundleGraph } from './graph-cache.js';
import type {
  EncodeInput,
  FromThread,
  Operations,
  ThreadOptions,
  ThreadRequest,
  ToThread,
} from './protocol.js';

interface OpenBundle {
  readonly bundle: Bundle;
  readonly captioner: Captioner;
}

const port = parentPort;
if (port === null) throw new Error('inference-thread.js is a worker thread, expected a parent port');
const say = (message: FromThread, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);

/** Those that were asked for, the first one before anything is; a bundle costs a second and 90 MB, and most are never asked for. */
const open = new Map<string, Promise<OpenBundle>>();
const options = workerData as ThreadOptions;
let provider: Provider = 'cpu';
try {
  const choice = await chooseProvider(options.device, options.strictDevice, probeGraph(options.bundles));
  provider = choice.provider;
  const refused: Record<string, string> = {};
  for (const { manifest } of options.bundles.slice(0, 1)) {
    try {
      await opened(manifest.name);
    } catch (error) {
      if (!(error instanceof BundleError)) throw error;
      refused[manifest.name] = error.message;
    }
  }
  say({ type: 'ready', ...choice, refused });
  port.on('message', (message: ToThread) => {
    if (message.type === 'close') void close();
    else void answer(message);
  });
  // Not before: nobody has to wait for what the first comparison would have done itself.
  warmUpExamine();
} catch (error) {
  say({ type: 'unfit', reason: reasonOf(error) });
}

/** @throws (rejects) BundleError where its graphs are not what its manifest says; the next request tries again */
function opened(name: string): Promise<OpenBundle> {
  const known = open.get(name);
  if (known !== undefined) return known;
  const bundle = options.bundles.find(({ manifest }) => manifest.name === name);
  if (bundle === undefined) return Promise.reject(new Error(`no bundle ${name} in this thread`));
  const opening = openBundle(bundle);
  open.set(name, opening);
  opening.catch(() => open.delete(name));
  return opening;
}

/** Any graph tells whether a provider works. */
function probeGraph(bundles: readonly Bundle[]): string {
  const bundle = bundles[0];
  if (bundle === undefined) throw new Error('no bundle to serve, expected at least one');
  return join(bundle.directory, bundle.manifest.graphs.features.file);
}

async function openBundle(bundle: Bundle): Promise<OpenBundle> {
  const { batchSize, graphCache } = options;
  const graph = (name: keyof BundleManifest['graphs']) => openBundleGraph(bundle, name, provider, graphCache);
  const captioner = new Captioner(
    bundle,
    {
      features: await graph('features'),
      difference: await graph('difference'),
      caption: await graph('caption'),
    },
    provider === 'cpu' ? null : batchBuckets(batchSize),
  );
  await captioner.warmUp();
  return { bundle, captioner };
}

/** 1, 2, 4, ... and the largest: each is warmed up once, and every batch is filled up to the next. */
function batchBuckets(largest: number): number[] {
  const buckets: number[] = [];
  for (let size = 1; size < largest; size *= 2) buckets.push(size);
  return [...buckets, largest];
}

async function answer(request: ThreadRequest): Promise<void> {
  try {
    const bundle = await opened(request.bundle);
    const transfer: ArrayBuffer[] = [];
    const outputs = await serve(bundle, request, transfer);
    say({ type: 'done', outputs }, transfer);
  } catch (error) {
    say({ type: 'failed', reason: reasonOf(error) });
  }
}

/** @param transfer receives the buffers that may move with the answer */
async function serve(
  { bundle, captioner }: OpenBundle,
  { operation, inputs }: ThreadRequest,
  transfer: ArrayBuffer[],
): Promise<Operations[ThreadRequest['operation']]['out'][]> {
  /** A run's outputs are views of the whole batch: only a copy of an item's part can move. */
  const own = <T extends Float32Array | BigInt64Array>(view: T): T => {
    const copy = view.slice() as T;
    transfer.push(copy.buffer as ArrayBuffer);
    return copy;
  };
  const ownFeatures = ({ coarse, fine }: Features): Features => ({ coarse: own(coarse), fine: own(fine) });
  const ownDifference = (d: Difference): Difference => ({
    ...d,
    memory: own(d.memory),
    kindLogits: own(d.kindLogits),
    nuisanceLogits: own(d.nuisanceLogits),
    before: { ...d.before, data: own(d.before.data) },
    after: { ...d.after, data: own(d.after.data) },
  });
  switch (operation) {
    case 'encode': {
      const encodes = inputs as EncodeInput[];
      const { width, height } = encodes[0] as EncodeInput;
      const images = encodes.flatMap((input) => resize(input, bundle));
      const features = (await captioner.encode(images, height, width)).map(ownFeatures);
      return encodes.map(({ boxes }) => features.splice(0, boxes.length));
    }
    case 'difference': {
      const pairs = inputs as Operations['difference']['in'][];
      return (await captioner.difference(pairs)).map(ownDifference);
    }
    case 'caption': {
      const captions = await captioner.caption(inputs as Operations['caption']['in'][]);
      return captions.map((caption) => ({
        ...caption,
        ids: own(caption.ids),
        logProbabilities: own(caption.logProbabilities),
        attention: caption.attention.map(own),
        kindLogits: caption.kindLogits === null ? null : own(caption.kindLogits),
      }));
    }
    case 'examine':
      return (inputs as Operations['examine']['in'][]).map(({ before, after }) => examine(before, after));
    case 'align':
      return (inputs as Operations['align']['in'][]).map(
        ({ before, after, homography, out }) => warpToBefore(before, after, homography, out).valid,
      );
  }
}

function resize({ frame, boxes, width, height }: EncodeInput, { manifest }: Bundle): Float32Array[] {
  return boxes.map((box) => {
    const out = new Float32Array(3 * height * width);
    resizeNormalised(frame, box, width, height, manifest.input, out);
    return out;
  });
}

async function close(): Promise<void> {
  for (const one of await Promise.allSettled(open.values())) {
    if (one.status === 'fulfilled') await one.value.captioner.release();
  }
  port?.close();
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
