/** A manifest of pairs as input of `scenedelta footage`: one result per line, in `comparisons.ndjson`. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { appendFile, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Static, Type } from 'typebox';
import { counted } from '../../base/counted.js';
import { asScenedeltaError, ScenedeltaError } from '../../base/errors.js';
import { jsonFault } from '../../base/json-fault.js';
import { VERSION } from '../../base/version.js';
import { readImage } from '../../footage/inputs/read-image.js';
import { fingerprintOf } from '../../footage/run/recording-run.js';
import { RunFolder } from '../../footage/run/run-folder.js';
import { DEFAULT_LOCALE, translated } from '../../language/translate.js';
import type { Comparer } from '../../pipeline/pair.js';
import type { Config } from '../../process/config.js';
import type { Finding } from '../../schemas/comparison.js';
import { roundFigures } from '../../schemas/rounding.js';
import { checker } from '../../schemas/validation-error.js';
import { startProgress } from '../progress.js';
import { makeFolder } from '../write-at-once.js';
import type { FootageOptions } from './options.js';
import { startPipeline } from './start.js';

export const isManifest = (input: string): boolean => /\.(ndjson|jsonl)$/i.test(input);

/** @returns the number of lines that failed, and of all @throws ScenedeltaError */
export async function runPairs(
  manifest: string,
  {
    outputDir,
    restart,
    quiet,
    locale = DEFAULT_LOCALE,
  }: Pick<FootageOptions, 'outputDir' | 'restart' | 'quiet' | 'locale'>,
  { config, concurrency, signal }: { config: Config; concurrency: number; signal: AbortSignal },
): Promise<{ failures: number; pairs: number }> {
  const content = await readFile(manifest);
  await makeFolder(outputDir);
  const sha256 = createHash('sha256').update(content).digest('hex');
  const fingerprint = fingerprintOf({ VERSION, manifest, sha256, locale, model: config.defaultModel });
  await new RunFolder(outputDir).begin(fingerprint, restart === true);
  const [file, part] = [join(outputDir, 'comparisons.ndjson'), join(outputDir, 'comparisons.ndjson.part')];
  const lines = restart ? [] : await finishedLines(part, file);
  await writeFile(part, lines.map((line) => `${line}\n`).join(''));
  let failures = lines.filter((line) => 'code' in JSON.parse(line)).length;
  let pairs = lines.length;
  const total = content
    .toString('utf8')
    .split('\n')
    .filter((line) => line.trim() !== '').length;
  const progress = quiet ? null : startProgress(total, 'pairs');
  progress?.step(pairs);
  const pipeline = await startPipeline(config);
  try {
    const { frameLimit } = config;
    for await (const result of comparePairs(manifest, { pipeline, concurrency, frameLimit, skip: pairs, signal })) {
      await appendFile(part, `${JSON.stringify(translated(roundFigures(result), locale))}\n`);
      pairs++;
      if ('code' in result) failures++;
      progress?.step(1, counted(failures, 'failure'));
    }
  } finally {
    progress?.end();
    await pipeline.close();
  }
  if (!signal.aborted) await rename(part, file);
  return { failures, pairs };
}

/** Results of an earlier run; a line that a kill cut off is dropped. */
async function finishedLines(part: string, file: string): Promise<string[]> {
  const text = await readFile(part, 'utf8').catch(() => readFile(file, 'utf8').catch(() => ''));
  return text.split('\n').slice(0, -1);
}

/** Unknown members are ignored. Paths are absolute, or relative to the folder of the manifest. */
const LineSchema = Type.Object({
  before: Type.String({ minLength: 1 }),
  after: Type.String({ minLength: 1 }),
  id: Type.Optional(Type.String()),
});
const checkLine = checker(LineSchema);

/** The result of one line; of a line that fails, the reason. */
type PairResult = { readonly v: 1; readonly line: number; readonly id: string | null } & (
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
async function* comparePairs(manifest: string, options: PairsOptions): AsyncGenerator<PairResult> {
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
    throw new ScenedeltaError('invalid-request', `the line is no JSON: ${jsonFault(text)}`, { cause });
  }
}

const named = (side: string, reading: Promise<Uint8Array>): Promise<Uint8Array> =>
  reading.catch((thrown: ScenedeltaError) => {
    throw new ScenedeltaError(thrown.code, `${side} ${thrown.message}`, { field: side, cause: thrown });
  });
