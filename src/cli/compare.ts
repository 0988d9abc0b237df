/** `scenedelta compare BEFORE AFTER`: runs one pair through the pipeline of the service, without queue and stores. */
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { probabilityByFacts } from '../changes/rule-sentences.js';
import type { Config } from '../config.js';
import { ScenedeltaError } from '../errors.js';
import { decodeFrame } from '../frames/decode.js';
import sharp, { type Sharp } from '../frames/sharp.js';
import type { HeatmapData } from '../heatmaps/data.js';
import { renderOutline } from '../heatmaps/outline.js';
import { sideBySide } from '../heatmaps/render.js';
import type { RgbImage, Side } from '../images.js';
import type { Locale } from '../language/locales.js';
import { DEFAULT_LOCALE, translated } from '../language/translate.js';
import { createLogger } from '../logger.js';
import { Pipeline } from '../pipeline/compare.js';
import type { AskAnswer } from '../schemas/ask.js';
import type { Finding } from '../schemas/comparison.js';
import { roundFigures } from '../schemas/rounding.js';
import { createCommand } from './command.js';
import { configWith } from './config-with.js';
import { printLine } from './print.js';
import { LOCALE_OPTION, readLocale } from './read-locale.js';
import { withBundles } from './with-bundles.js';
import { assertWritable, writeAtOnce } from './write-at-once.js';

interface Options {
  readonly json?: true;
  readonly heatmap?: string;
  readonly ask?: string;
  readonly locale: Locale;
  readonly model?: string;
  readonly device?: string;
}

export const command = createCommand('compare')
  .description('Says what changed between two pictures of one fixed camera.')
  .argument('<before>', 'the earlier picture')
  .argument('<after>', 'the later picture')
  .option('--json', 'print the finding as JSON instead of sentences')
  .option('--heatmap <file>', 'write both pictures with outlines of the change, side by side, as .png or .jpg')
  .option(
    '--ask <sentence>',
    'also print how probable this sentence is, by the truth check of the bundle and by the facts',
  )
  .option('--locale <tag>', LOCALE_OPTION, readLocale, DEFAULT_LOCALE)
  .option('--model <name>', 'bundle to use; default: DEFAULT_MODEL')
  .option('--device <device>', 'auto, cpu or cuda:N; default: DEVICE')
  .action(async (beforePath: string, afterPath: string, options: Options) => {
    const config = await configWith(options);
    // Everything that can be refused is checked before the models load, which takes seconds.
    if (options.heatmap !== undefined) await assertWritable(options.heatmap, Object.keys(ENCODERS));
    const frames = { before: await readFrame(beforePath), after: await readFrame(afterPath) };
    const [output, checked] = await withPipeline(config, async (pipeline) => [
      await pipeline.compare(frames),
      options.ask === undefined ? undefined : await pipeline.ask(frames, options.ask),
    ]);
    const asked =
      checked && roundFigures({ ...checked, by_facts: probabilityByFacts(checked.sentence, output.finding) });
    const finding = translated(roundFigures(output.finding), options.locale);
    const described = options.json ? JSON.stringify({ ...finding, asked }, null, 2) : describe(finding);
    printLine(asked === undefined || options.json ? described : `${described}\n${describeAsked(asked)}`);
    if (options.heatmap !== undefined) {
      const picture = await drawHeatmaps(frames, output.heatmaps, config.pixelLimit);
      await writeAtOnce(options.heatmap, await encoded(picture, options.heatmap));
    }
  });

/** Formats of `--heatmap`, by the file's extension. */
const ENCODERS: Readonly<Record<string, (image: Sharp) => Sharp>> = {
  '.png': (image) => image.png(),
  '.jpg': (image) => image.jpeg({ quality: 90 }),
  '.jpeg': (image) => image.jpeg({ quality: 90 }),
};

const encoded = ({ data, width, height }: RgbImage, file: string): Promise<Uint8Array> => {
  const image = sharp(data, { raw: { width, height, channels: 3 } });
  return (ENCODERS[extname(file).toLowerCase()]?.(image) ?? image.png()).toBuffer();
};

/** A second thread costs more to start than it saves for one pair. */
async function withPipeline<T>(config: Config, use: (pipeline: Pipeline) => Promise<T>): Promise<T> {
  const logger = createLogger({ level: 'silent', name: 'compare' });
  const pipeline = await withBundles(
    config,
    Pipeline.start({
      config: { ...config, inferenceThreads: config.inferenceThreads || 1 },
      logger,
      onlyDefault: true,
      warmUp: false,
    }),
  );
  try {
    return await use(pipeline);
  } finally {
    await pipeline.close();
  }
}

async function readFrame(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new ScenedeltaError('not-found', `${path} cannot be read (${code}), expected a picture`, { cause });
  }
}

async function drawHeatmaps(
  frames: Record<Side, Uint8Array>,
  heatmaps: HeatmapData | null,
  pixelLimit: number,
): Promise<RgbImage> {
  const drawn = async (side: Side): Promise<RgbImage> => {
    const allocate = (bytes: number) => new Uint8Array(bytes);
    const frame = await decodeFrame(frames[side], { field: side, pixelLimit, allocate });
    return heatmaps === null ? frame : renderOutline(heatmaps[side], frame);
  };
  return sideBySide(await drawn('before'), await drawn('after'));
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

function describe(finding: Finding): string {
  const lines = [finding.caption, ''];
  lines.push(`verdict     ${finding.verdict} (probability of a change ${percent(finding.confidence)})`);
  if (finding.verdict === 'change') lines.push(`kind        ${finding.kind}`);
  for (const { name, score } of finding.nuisance) lines.push(`nuisance    ${name} (${percent(score)})`);
  for (const { side, box, score } of finding.regions) {
    const corner = `${percent(box.x)} from the left, ${percent(box.y)} from the top`;
    lines.push(
      `region      ${side}: ${corner}, ${percent(box.width)} x ${percent(box.height)} (score ${score.toFixed(2)})`,
    );
  }
  const { lost } = finding;
  if (lost !== undefined) {
    lines.push(
      `lost        ${lost.side}: ${percent(lost.share)} of the frame (${lost.reason}), which was not compared`,
    );
  }
  lines.push(`model       ${describeModel(finding)}`);
  return lines.join('\n');
}

function describeAsked({ p, by_facts, sentence, unknown_words: unknown }: AskAnswer): string {
  const leftOut = unknown.length === 0 ? '' : ` (unknown: ${unknown.join(', ')})`;
  const byFacts = by_facts === null ? '' : `, by the facts ${percent(by_facts)}`;
  return `asked       ${percent(p)}${byFacts}: ${sentence}${leftOut}`;
}

function describeModel({ model, verdict, lost }: Finding): string {
  if (model !== null) return `${model.name} ${model.version}, ${model.provider}`;
  if (verdict !== 'tamper') return 'not asked: same pixels';
  return `not asked: ${lost === undefined ? 'the camera was tampered with' : 'too much of the picture is lost'}`;
}
