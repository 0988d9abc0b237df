/**
 * Entry of an inference thread. It owns its sessions and does nothing else, because a run blocks the thread. It serves
 * one request at a time and ends by itself on request, because terminating it within a run would abort the whole
 * process.
 */
import { once } from 'node:events';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';
import { BundleError } from '../model/bundle.js';
import { Captioner } from '../model/captioner.js';
import type { CheckInput, StatementsInput } from '../model/graph-io.js';
import type { Bundle, BundleManifest } from '../model/manifest.js';
import { chooseProvider, type Provider } from '../model/session.js';
import { warmUpExamine } from '../viewpoint/warm-up.js';
import { openBundleGraph } from './graph-cache.js';
import { runGraphless } from './graphless.js';
import { openAtFirstRun } from './lazy-graph.js';
import {
  type EncodeInput,
  type FromThread,
  type Graphless,
  type Operation,
  type Operations,
  roleOn,
  serves,
  type ThreadRequest,
  type ToThread,
} from './protocol.js';
import { resizeBatch, resizeShared } from './resize.js';
import { inSharedMemory } from './shared-memory.js';

type GraphName = keyof BundleManifest['graphs'];

interface OpenBundle {
  readonly bundle: Bundle;
  readonly captioner: Captioner;
}

const port = parentPort;
if (port === null) throw new Error('thread.js must run as a worker thread: it has no parent port');
const post = (message: FromThread) => port.postMessage(message);

/**
 * Opened bundles by name. Only the first is opened at the start: a bundle costs a second and 90 MB, and most are never
 * used.
 */
const openBundles = new Map<string, Promise<OpenBundle>>();
/** Graphs of the first bundle that a changed pair needs, and that are not open yet. */
const closed: ReturnType<typeof openAtFirstRun>[] = [];
/** ends with the request that is answered now */
let answering = Promise.resolve();
const [begin] = (await once(port, 'message')) as [Exclude<ToThread, ThreadRequest>];
// A thread that is not needed ends before it has opened anything.
if (begin.type === 'close') process.exit();
const { options } = begin;
let provider: Provider = 'cpu';
let { role } = options;
try {
  const choice = await chooseProvider(options.device, options.strictDevice, probeGraph(options.bundles));
  provider = choice.provider;
  role = roleOn(provider, role);
  const refused: Record<string, string> = {};
  for (const { manifest } of options.bundles.slice(0, 1)) {
    try {
      await openOnce(manifest.name);
    } catch (error) {
      if (!(error instanceof BundleError)) throw error;
      refused[manifest.name] = error.message;
    }
  }
  post({ type: 'ready', ...choice, refused });
  port.on('message', (message: ToThread) => {
    if (message.type === 'run') answering = answer(message);
    else void close();
  });
  // After `ready`, so that the start does not wait for it.
  if (options.warmUp) warmUpExamine();
  else void openWhileIdle();
} catch (error) {
  post({ type: 'unfit', reason: reasonOf(error) });
}

/** Rejects with BundleError if the graphs differ from the manifest; the next request tries again. */
function openOnce(name: string): Promise<OpenBundle> {
  const present = openBundles.get(name);
  if (present !== undefined) return present;
  const bundle = options.bundles.find(({ manifest }) => manifest.name === name);
  if (bundle === undefined) return Promise.reject(new Error(`no bundle ${name} in this thread`));
  const opening = openBundle(bundle);
  openBundles.set(name, opening);
  opening.catch(() => openBundles.delete(name));
  return opening;
}

/** Between requests: their caller loads the rest of the program, decodes the frames, and compares their pixels. */
async function openWhileIdle(): Promise<void> {
  for (const graph of closed) {
    await nextTurn();
    await answering;
    // The run that needs it tries again, and reports why it cannot be opened.
    await graph.openAhead().catch(() => {});
  }
}

/** @returns the path of a graph to try the provider with; any graph will do */
function probeGraph(bundles: readonly Bundle[]): string {
  const bundle = bundles[0];
  if (bundle === undefined) throw new Error('no bundle to serve, expected at least one');
  return join(bundle.directory, bundle.manifest.graphs.features.file);
}

async function openBundle(bundle: Bundle): Promise<OpenBundle> {
  const { batchSize, gpuGraphs, graphCache, warmUp } = options;
  const runs = (operation: Operation) => serves(role, gpuGraphs, operation);
  const openNow = (name: GraphName) => openBundleGraph(bundle, name, provider, graphCache);
  const openLazily = (name: GraphName) => openAtFirstRun(bundle, name, () => openNow(name));
  const open = (name: GraphName, operation: Operation) => {
    // Another thread runs it, unless that one fails.
    if (!runs(operation)) return openLazily(name);
    if (warmUp) return openNow(name);
    const graph = openLazily(name);
    closed.push(graph);
    return graph;
  };
  const { statements, names, people, check, pair, text } = bundle.manifest.graphs;
  const captioner = new Captioner(
    bundle,
    {
      // Every comparison needs the features, so they show whether ONNX Runtime takes the bundle.
      features: runs('encode') ? await openNow('features') : openLazily('features'),
      difference: await open('difference', 'difference'),
      // Changed pairs are captioned by `statements` where a bundle has it.
      caption: statements === undefined ? await open('caption', 'caption') : openLazily('caption'),
      ...(statements === undefined ? {} : { statements: await open('statements', 'statements') }),
      ...(names === undefined ? {} : { names: await open('names', 'name') }),
      ...(people === undefined ? {} : { people: await open('people', 'people') }),
      ...(check === undefined ? {} : { check: await open('check', 'check') }),
      // A comparison needs no search vector.
      ...(pair === undefined ? {} : { pair: openLazily('pair') }),
      ...(text === undefined ? {} : { text: openLazily('text') }),
    },
    provider === 'cpu' ? null : batchBuckets(batchSize),
  );
  if (warmUp && runs('encode')) await captioner.warmUpFrames();
  if (warmUp && runs('statements')) await captioner.warmUpWords();
  return { bundle, captioner };
}

/** @returns 1, 2, 4, ... and the largest: the batch sizes that are warmed up, and to which batches are padded */
function batchBuckets(largest: number): number[] {
  const buckets: number[] = [];
  for (let size = 1; size < largest; size *= 2) buckets.push(size);
  return [...buckets, largest];
}

async function answer(request: ThreadRequest): Promise<void> {
  try {
    const bundle = await openOnce(request.bundle);
    post({ type: 'done', outputs: (await serve(bundle, request)).map(inSharedMemory) });
  } catch (error) {
    post({ type: 'failed', reason: reasonOf(error) });
  }
}

/** @returns an output per input */
async function serve(
  { bundle, captioner }: OpenBundle,
  { operation, inputs }: ThreadRequest,
): Promise<Operations[ThreadRequest['operation']]['out'][]> {
  switch (operation) {
    case 'resize':
      return (inputs as EncodeInput[]).map((input) => resizeShared(input, bundle));
    case 'encode': {
      const encodes = inputs as EncodeInput[];
      const { width, height } = encodes[0] as EncodeInput;
      const features = await captioner.encode(resizeBatch(encodes, bundle), height, width);
      return encodes.map(({ boxes }) => features.splice(0, boxes.length));
    }
    case 'difference':
      return captioner.difference(inputs as Operations['difference']['in'][]);
    case 'caption': {
      const sets = inputs as Operations['caption']['in'][];
      const captions = await captioner.caption(sets.flat());
      return sets.map(({ length }) => captions.splice(0, length));
    }
    case 'statements':
      return captioner.statements(inputs as StatementsInput[]);
    case 'name': {
      const sets = inputs as Operations['name']['in'][];
      const names = await captioner.name(sets.flat());
      return sets.map(({ length }) => names.splice(0, length));
    }
    case 'people': {
      const encodes = inputs as EncodeInput[];
      const people = await captioner.people(resizeBatch(encodes, bundle));
      return encodes.map(({ boxes }) => people.splice(0, boxes.length));
    }
    case 'check':
      return captioner.check(inputs as CheckInput[]);
    case 'embedPair':
      return captioner.embedPairs(inputs as Operations['embedPair']['in'][]);
    case 'embedTexts': {
      const sets = inputs as Operations['embedTexts']['in'][];
      const vectors = await captioner.embedTexts(sets.flat());
      return sets.map(({ length }) => vectors.splice(0, length));
    }
    case 'examine':
    case 'measureRegions':
    case 'align':
      return inputs.map((input) => runGraphless<Graphless>(operation, input as Operations[Graphless]['in']));
  }
}

async function close(): Promise<void> {
  for (const bundle of await Promise.allSettled(openBundles.values())) {
    if (bundle.status === 'fulfilled') await bundle.value.captioner.release();
  }
  port?.close();
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
