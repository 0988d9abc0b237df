/** Pairs of a manifest: each line names two pictures, which are compared on their own, without a camera. */
import { createReadStream } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Static, Type } from 'typebox';
import { asScenedeltaError, ScenedeltaError } from '../errors.js';
import type { Comparer } from '../pipeline/pair.js';
import type { Finding } from '../schemas/comparison.js';
import { checker } from '../schemas/validation-error.js';
import { readImage } from './read-image.js';

/** Unknown members are ignored. Paths are absolute, or relative to the folder of the manifest. */
const LineSchema = Type.Object({
  before: Type.String({ minLength: 1 }),
  after: Type.String({ minLength: 1 }),
  id: Type.Optional(Type.String()),
});
const checkLine = checker(LineSchema);

/** The result of one line; of a line that fails, the reason. */
export type PairResult = { readonly v: 1; readonly line: number; readonly id: string | null } & (
  | { readonly finding: Finding }
  | { readonly code: string; readonly reason: string }
);

interface PairsOptions {
  readonly pipeline: Comparer;
  /** pairs at a time */
  readonly concurrency: number;
  /** largest picture, bytes */
  readonly frameLimit: number;
  /** number of pairs that have their result */
  readonly skip: number;
  readonly signal: AbortSignal;
}

/**
 * @returns one result per line that is not empty, in the order of the lines
 * @throws ScenedeltaError that is not the fault of a line, e.g. 'inference-failed'
 */
export async function* comparePairs(manifest: string, options: PairsOptions): AsyncGenerator<PairResult> {
  const { concurrency, skip, signal } = options;
  const waiting: Promise<PairResult>[] = [];
  let number = 0;
  let pairs = 0;
  for await (const text of createInterface({ input: createReadStream(manifest) })) {
    number++;
    if (text.trim() === '' || ++pairs <= skip) continue;
    if (signal.aborted) break;
    const result = compareLine(text, number, dirname(manifest), options);
    // It is awaited in its turn.
    result.catch(() => {});
    waiting.push(result);
    if (waiting.length >= concurrency) yield (await waiting.shift()) as PairResult;
  }
  for (const result of waiting) yield await result;
}

async function compareLine(text: string, line: number, folder: string, options: PairsOptions): Promise<PairResult> {
  let id: string | null = null;
  try {
    const pair = checkLine(parsed(text)) as Static<typeof LineSchema>;
    id = pair.id ?? null;
    const read = (path: string) => readImage(isAbsolute(path) ? path : join(folder, path), options.frameLimit);
    const [before, after] = [await named('before', read(pair.before)), await named('after', read(pair.after))];
    const { finding } = await options.pipeline.compare({ before, after });
    return { v: 1, line, id, finding };
  } catch (thrown) {
    const error = asScenedeltaError(thrown);
    if (!error.permanent || error.code === 'cancelled') throw thrown;
    return { v: 1, line, id, code: error.code, reason: error.message };
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ScenedeltaError('invalid-request', `the line is no JSON (${(cause as Error).message})`, { cause });
  }
}

const named = (side: string, reading: Promise<Uint8Array>): Promise<Uint8Array> =>
  reading.catch((thrown: ScenedeltaError) => {
    throw new ScenedeltaError(thrown.code, `${side} ${thrown.message}`, { field: side, cause: thrown });
  });
