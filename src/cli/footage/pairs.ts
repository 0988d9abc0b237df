/** A manifest of pairs as input of `scenedelta footage`: one result per line, in `comparisons.ndjson`. */
import { createHash } from 'node:crypto';
import { appendFile, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../config.js';
import { comparePairs } from '../../footage/pairs-run.js';
import { fingerprintOf } from '../../footage/recording-run.js';
import { RunFolder } from '../../footage/run-folder.js';
import { DEFAULT_LOCALE, translated } from '../../language/translate.js';
import { roundFigures } from '../../schemas/rounding.js';
import { VERSION } from '../../version.js';
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
      progress?.step(1, `${failures} failures`);
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
