/** The work of `scenedelta compare`: compares the pair, prints the finding and draws its heatmaps. */
import { extname } from 'node:path';
import type { RgbImage, Side } from '../../base/images.js';
import { probabilityByFacts } from '../../camera/changes/rule-sentences.js';
import { outlinedPair } from '../../frames/outlined-pair.js';
import sharp, { type Sharp } from '../../frames/sharp.js';
import type { Locale } from '../../language/locales.js';
import { translated } from '../../language/translate.js';
import { Pipeline } from '../../pipeline/compare.js';
import type { startPool } from '../../pipeline/start-pool.js';
import type { Config } from '../../process/config.js';
import { SILENT } from '../../process/silent-logger.js';
import type { AskAnswer } from '../../schemas/ask.js';
import type { Finding } from '../../schemas/comparison.js';
import { answered } from '../../schemas/finding.js';
import { roundFigures } from '../../schemas/rounding.js';
import { printLine } from '../print.js';
import { writeAtOnce } from '../write-at-once.js';
import type { HeatmapFormat } from './heatmap-formats.js';

export interface CompareOptions {
  readonly json?: true;
  readonly heatmap?: string;
  readonly ask?: string;
  readonly locale: Locale;
  readonly model?: string;
  readonly device?: string;
}

interface Started {
  readonly config: Config;
  readonly starting: ReturnType<typeof startPool>;
}

/** @param frames bytes of both files. @throws ScenedeltaError as `Pipeline.compare` and `ask` */
export async function comparePair(
  frames: Record<Side, Uint8Array>,
  { config, starting }: Started,
  options: CompareOptions,
): Promise<void> {
  const pipeline = await Pipeline.start({ config, logger: SILENT }, starting);
  try {
    const output = await pipeline.compare(frames);
    const checked = options.ask === undefined ? undefined : await pipeline.ask(frames, options.ask);
    const asked =
      checked && roundFigures({ ...checked, by_facts: probabilityByFacts(checked.sentence, output.finding) });
    const finding = translated(roundFigures(output.finding), options.locale);
    const described = options.json ? JSON.stringify({ ...answered(finding), asked }, null, 2) : describe(finding);
    printLine(asked === undefined || options.json ? described : `${described}\n${describeAsked(asked)}`);
    if (options.heatmap !== undefined) {
      const picture = await outlinedPair(frames, output.heatmaps, config.pixelLimit);
      await writeAtOnce(options.heatmap, await encoded(picture, options.heatmap));
    }
  } finally {
    await pipeline.close();
  }
}

const ENCODERS: Readonly<Record<HeatmapFormat, (image: Sharp) => Sharp>> = {
  '.png': (image) => image.png(),
  '.jpg': (image) => image.jpeg({ quality: 90 }),
  '.jpeg': (image) => image.jpeg({ quality: 90 }),
};

const encoded = ({ data, width, height }: RgbImage, file: string): Promise<Uint8Array> => {
  const image = sharp(data, { raw: { width, height, channels: 3 } });
  return ENCODERS[extname(file).toLowerCase() as HeatmapFormat](image).toBuffer();
};

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

function describe(finding: Finding): string {
  const lines = [finding.caption, ''];
  const subject = finding.verdict === 'tamper' ? 'tampering' : 'a change';
  lines.push(`verdict     ${finding.verdict} (probability of ${subject} ${percent(finding.confidence)})`);
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
