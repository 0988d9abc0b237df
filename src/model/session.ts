/** Sessions of ONNX Runtime behind a small interface; no other file imports the library. */
import * as ort from 'onnxruntime-node';
import { BundleError } from './bundle.js';
import type { TensorSpec } from './graphs-schema.js';

// The runtime throws its failures and also prints them on stderr; the caller reports them with more context.
ort.env.logLevel = 'fatal';

export const RUNTIME_VERSION = ort.env.versions.node ?? ort.env.versions.common;

/** `dims` row-major; data.length is their product. */
export interface Tensor {
  readonly dims: readonly number[];
  readonly data: Float32Array | BigInt64Array;
}

/** An opened graph. A run blocks the calling thread until it ends and cannot be cancelled. */
export interface Graph {
  readonly file: string;
  readonly inputs: readonly TensorSpec[];
  readonly outputs: readonly TensorSpec[];
  run(feeds: Readonly<Record<string, Tensor>>): Promise<Record<string, Tensor>>;
  release(): Promise<void>;
}

export type Provider = 'cpu' | `cuda:${number}`;

interface GraphSource {
  /** the graph, instead of the file's content */
  readonly bytes?: Uint8Array;
  /** whether the graph was written by `optimisedPath`: nothing is left to optimise */
  readonly isOptimised?: boolean;
  /** file that receives the graph as optimised for this processor */
  readonly optimisedPath?: string;
}

/**
 * Opens a graph with one intra-op thread per session, because several sessions on several threads use a CPU better than
 * one session on all cores. Waiting threads do not spin, because they would take time from the others.
 * @throws BundleError if ONNX Runtime refuses the file; Error if the provider is not available
 */
export async function openGraph(path: string, provider: Provider, from: GraphSource = {}): Promise<Graph> {
  const { bytes, isOptimised = false, optimisedPath } = from;
  let session: ort.InferenceSession;
  try {
    const options: ort.InferenceSession.SessionOptions = {
      executionProviders: [executionProvider(provider)],
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      graphOptimizationLevel: isOptimised ? 'disabled' : 'all',
      extra: { session: { intra_op: { allow_spinning: '0' }, inter_op: { allow_spinning: '0' } } },
      logSeverityLevel: 4,
      ...(optimisedPath === undefined ? {} : { optimizedModelFilePath: optimisedPath }),
    };
    session = await (bytes === undefined
      ? ort.InferenceSession.create(path, options)
      : ort.InferenceSession.create(bytes, options));
  } catch (error) {
    const reason = oneLine(error);
    if (provider !== 'cpu') throw new Error(`${provider} is not available: ${reason}`, { cause: error });
    throw new BundleError(path, `ONNX Runtime cannot open it: ${reason}`, { cause: error });
  }
  return {
    file: path,
    inputs: session.inputMetadata.map((value) => describe(path, value)),
    outputs: session.outputMetadata.map((value) => describe(path, value)),
    async run(feeds) {
      const inputs: Record<string, ort.Tensor> = {};
      for (const [name, tensor] of Object.entries(feeds)) {
        const type = tensor.data instanceof Float32Array ? 'float32' : 'int64';
        inputs[name] = new ort.Tensor(type, tensor.data, tensor.dims);
      }
      const outputs = await session.run(inputs);
      const results: Record<string, Tensor> = {};
      for (const [name, tensor] of Object.entries(outputs)) {
        results[name] = { dims: tensor.dims, data: tensor.data as Float32Array | BigInt64Array };
      }
      return results;
    },
    release: () => session.release(),
  };
}

interface ProviderChoice {
  readonly provider: Provider;
  /** reason why the CPU serves although the setting names a GPU; null if the setting is met */
  readonly fallback: string | null;
}

/**
 * Chooses the provider by opening a graph, because ONNX Runtime also lists providers whose libraries are missing.
 * @param device auto (the CPU), cpu, or cuda:N
 * @param probe path of the graph to open
 * @throws Error if `strict` is set and the GPU does not work
 */
export async function chooseProvider(device: string, strict: boolean, probe: string): Promise<ProviderChoice> {
  if (device === 'cpu' || device === 'auto') return { provider: 'cpu', fallback: null };
  const provider = device as Provider;
  try {
    await (await openGraph(probe, provider)).release();
    return { provider, fallback: null };
  } catch (error) {
    const reason = oneLine(error);
    if (strict) {
      throw new Error(`DEVICE=${device} with STRICT_DEVICE: ${reason}`, { cause: error });
    }
    return { provider: 'cpu', fallback: reason };
  }
}

function executionProvider(provider: Provider): ort.InferenceSession.ExecutionProviderConfig {
  return provider === 'cpu' ? 'cpu' : { name: 'cuda', deviceId: Number(provider.slice('cuda:'.length)) };
}

function describe(path: string, value: ort.InferenceSession.ValueMetadata): TensorSpec {
  if (!value.isTensor || (value.type !== 'float32' && value.type !== 'int64')) {
    const type = value.isTensor ? value.type : 'not a tensor';
    throw new BundleError(path, `${value.name} is ${type}, expected float32 or int64`);
  }
  return { name: value.name, dtype: value.type, shape: [...value.shape] };
}

/**
 * @returns at most 300 characters of the first line, without the signature of a C++ function that stands before a
 *   failure of CUDA, cuDNN or cuBLAS
 */
export function oneLine(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return line.slice(Math.max(0, line.search(/\bCU[A-Z]+ failure /))).slice(0, 300);
}
