/** `scenedelta tune`: adapts a bundle to the feedback of operators on its changes. docs/tuning.md describes it. */
import { readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type Config, loadConfig } from '../config.js';
import { invalidRequest } from '../errors.js';
import { SIDES } from '../images.js';
import { type Bundle, loadBundle } from '../model/manifest.js';
import type { Finding } from '../schemas/comparison.js';
import { type Fall, fallsOf } from '../tuning/acceptance.js';
import { type Audit, auditFeedback, type FeedbackSample, parseFeedback } from '../tuning/feedback.js';
import { PARTS, type PartResult, tuneCameras, tunePriors, tuneVerdict } from '../tuning/parts.js';
import { type TunedParts, tunedManifest } from '../tuning/tuned-manifest.js';
import { collect, createCommand } from './command.js';
import { withBundles } from './config-with.js';
import { openPairs, type PairFolder, readText } from './evaluation/frames.js';
import { printLine } from './print.js';
import { type Asked, answersOf, existingPaths, figuresOf } from './tuning/answers.js';
import { checkedOutput, type PendingBundle, writeBundle } from './tuning/bundle-folder.js';
import { formatTuning, type Tuning } from './tuning/report.js';
import { writeAtOnce } from './write-at-once.js';

interface Options {
  readonly feedback: string;
  readonly out: string;
  readonly replace?: true;
  readonly bundle?: string;
  readonly check?: readonly string[];
  readonly most: string;
  readonly json?: string;
}

const MOST = 2_000;

export const command = createCommand('tune')
  .description(
    'Learns from the pairs of `scenedelta feedback`: the probability of a change, thresholds of cameras, and how often ' +
      'things and colours occur. A part is kept only if it is better on the latest feedback, which it did not learn ' +
      'from, and no worse on the pairs of --check. The result is a bundle of its own; no graph is altered.',
  )
  .requiredOption('--feedback <file>', 'pairs.ndjson that `scenedelta feedback` wrote')
  .requiredOption('--out <folder>', 'folder of the new bundle, e.g. models/mine; its name is that of the bundle')
  .option('--replace', 'replace the tuned bundle in that folder')
  .option('--bundle <name>', 'bundle to adapt; default: DEFAULT_MODEL of MODELS_DIR')
  .option('--check <file>', 'labelled pairs on which no figure may fall; may be repeated', collect)
  .option('--most <n>', `feedback that is used, the latest of each camera`, String(MOST))
  .option('--json <file>', 'also write the report as JSON')
  .action(run);

/**
 * Exit status 1 if nothing was accepted, so that no bundle was written.
 * @throws ScenedeltaError 'invalid-request' naming file, line and reason; 'unknown-model'
 */
async function run(options: Options): Promise<void> {
  const config = loadConfig();
  const source = await loadSource(config, options.bundle ?? config.defaultModel);
  const out = await checkedOutput(options.out, options.replace === true);
  const checks = await Promise.all((options.check ?? []).map((file) => openPairs(file)));
  const { samples, leftOut } = await readFeedback(options.feedback, mostOf(options.most));

  const session = new Session(config, source, out, dirname(options.feedback));
  const findings = await session.ask(source.directory, samples);
  const runs = samples.flatMap((sample, i) => (findings[i] == null ? [] : [{ sample, finding: findings[i] }]));
  const audit = { ...leftOut, 'frames unreadable': samples.length - runs.length };
  if (runs.length === 0) {
    const reasons = Object.entries(audit).flatMap(([reason, count]) => (count === 0 ? [] : [`${count} ${reason}`]));
    throw invalidRequest(`${options.feedback}: holds no feedback that counts (${reasons.join(', ') || 'no lines'})`);
  }

  const verdict = tuneVerdict(runs, source.manifest);
  const cameras = tuneCameras(runs, source.manifest, verdict.value ?? undefined);
  const priors = await tunePriors(runs, source.manifest, (value, held) => session.askWith({ priors: value }, held));
  const proposed: TunedParts = {
    ...(verdict.value === null ? {} : { verdict: verdict.value }),
    ...(cameras.value === null ? {} : { cameras: cameras.value }),
    ...(priors.value === null ? {} : { priors: priors.value }),
  };
  const results: Record<(typeof PARTS)[number], PartResult> = { verdict, cameras, priors };
  const record = () => ({
    feedback: { used: runs.length, ...audit },
    parts: PARTS.map((part) => ({ part, accepted: results[part].accepted, reason: results[part].reason })),
  });
  const write = (parts: TunedParts) => writeBundle(source, tunedManifest(source, basename(out), parts, record()), out);
  const { kept, falls } = await guard(session, proposed, checks, write);
  for (const part of PARTS) {
    const ofPart = falls.filter((fall) => fall.part === part);
    if (ofPart.length > 0) results[part] = { ...results[part], accepted: false, reason: reasonOf(ofPart) };
  }
  if (kept !== null) {
    // Written anew, because the record knows now which parts the checks refused.
    const pending = await write(kept);
    await pending.keep();
  }
  const tuning: Tuning = {
    ...{ from: { name: source.manifest.name, version: source.manifest.version }, to: kept === null ? null : out },
    ...{ ...record(), checked: checks.reduce((sum, { pairs }) => sum + pairs.length, 0) },
  };
  printLine(formatTuning(tuning).trimEnd());
  if (options.json !== undefined) await writeAtOnce(options.json, `${JSON.stringify(tuning, null, 2)}\n`);
  if (kept === null) process.exitCode = 1;
}

async function loadSource(config: Config, name: string): Promise<Bundle> {
  const source = await withBundles(config, loadBundle(join(config.modelsDir, name)));
  const { tuned } = source.manifest;
  if (tuned === undefined) return source;
  throw invalidRequest(`${name} is tuned already: expected its source, ${tuned.from.name}`);
}

function mostOf(text: string): number {
  const most = Number(text);
  if (Number.isInteger(most) && most >= 1 && most <= 100_000) return most;
  throw invalidRequest(`--most ${text}: expected a whole number from 1 to 100000`);
}

async function readFeedback(file: string, most: number): Promise<Audit> {
  const lines = parseFeedback(await readText(file), file);
  const paths = lines.flatMap(({ sample }) => SIDES.map((side) => sample.frames[side]));
  const exists = await existingPaths(dirname(file), paths);
  return auditFeedback(lines, (path) => exists.has(path), most);
}

/** Runs bundles over feedback. */
class Session {
  constructor(
    readonly config: Config,
    readonly source: Bundle,
    readonly out: string,
    readonly folder: string,
  ) {}

  ask(bundle: string, samples: readonly FeedbackSample[]): Promise<(Finding | null)[]> {
    const pathOf = (path: string) => resolve(this.folder, path);
    const pairs = samples.map(
      ({ camera, frames }): Asked => ({
        camera,
        read: async () => ({
          before: await readFile(pathOf(frames.before)),
          after: await readFile(pathOf(frames.after)),
        }),
      }),
    );
    return answersOf(this.config, bundle, pairs);
  }

  /** The findings of a bundle with these parts, which is not kept. */
  async askWith(parts: TunedParts, samples: readonly FeedbackSample[]): Promise<(Finding | null)[]> {
    const record = { feedback: {}, parts: [] };
    const manifest = tunedManifest(this.source, basename(this.out), parts, record);
    const pending = await writeBundle(this.source, manifest, this.out);
    try {
      return await this.ask(pending.folder, samples);
    } finally {
      await pending.discard();
    }
  }
}

type PartFall = Fall & { readonly part: (typeof PARTS)[number] };

/**
 * Drops one part after the other, the priors first, until no figure of the checks falls.
 * @returns `kept`: null if no part remains
 */
async function guard(
  session: Session,
  proposed: TunedParts,
  checks: readonly PairFolder[],
  write: (parts: TunedParts) => Promise<PendingBundle>,
): Promise<{ kept: TunedParts | null; falls: PartFall[] }> {
  const { config, source } = session;
  const falls: PartFall[] = [];
  let parts = proposed;
  const names = () => PARTS.filter((part) => parts[part] !== undefined);
  if (names().length === 0 || checks.length === 0) return { kept: names().length === 0 ? null : parts, falls };
  const before = [];
  for (const check of checks) before.push(await figuresOf(config, source.directory, check));
  while (names().length > 0) {
    const pending = await write(parts);
    const found: Fall[] = [];
    try {
      for (const [i, check] of checks.entries()) {
        const was = before[i];
        if (was !== undefined) found.push(...fallsOf(was, await figuresOf(config, pending.folder, check)));
      }
    } finally {
      await pending.discard();
    }
    if (found.length === 0) return { kept: parts, falls };
    const part = names().at(-1) as (typeof PARTS)[number];
    falls.push(...found.map((fall) => ({ ...fall, part })));
    const { [part]: _dropped, ...others } = parts;
    parts = others;
  }
  return { kept: null, falls };
}

const reasonOf = (falls: readonly Fall[]): string =>
  `the check pairs lose: ${falls
    .map(({ figure, before, after }) => `${figure} ${percent(before)} -> ${percent(after)}`)
    .join(', ')}`;

const percent = (rate: number): string => `${(100 * rate).toFixed(1)} %`;
