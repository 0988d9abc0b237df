/** `scenedelta compare A B`: one pair through the same pipeline as the service's, without queue and stores. */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { type Config, loadConfig } from '../config.js';
import { ScenedeltaError } from '../errors.js';
import { decodeFrame } from '../frames/decode.js';
import sharp from '../frames/sharp.js';
import type { HeatmapData } from '../heatmaps/data.js';
import { renderOverlay, sideBySide } from '../heatmaps/render.js';
import type { RgbImage, Side } from '../images.js';
import { createLogger } from '../logger.js';
import { createPipeline, type PairOutput, type Pipeline } from '../pipeline/compare.js';
import type { Command } from './command.js';
import { withBundles } from './with-bundles.js';
import { writeWhole } from './write-whole.js';

export const command: Command = {
  usage: `compare BEFORE AFTER [options]

Says what changed between two pictures of one fixed camera.
  --json            print the finding as JSON instead of sentences
  --heatmap FILE    write both pictures with their heatmaps, side by side, as PNG
  --model NAME      bundle to ask; default: DEFAULT_MODEL
  --device DEVICE   auto, cpu or cuda:N; default: DEVICE`,
  async run(args) {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        json: { type: 'boolean', default: false },
        heatmap: { type: 'string' },
        model: { type: 'string' },
        device: { type: 'string' },
      },
    });
    const [beforePath, afterPath, ...more] = positionals;
    if (beforePath === undefined || afterPath === undefined || more.length > 0) {
      throw new ScenedeltaError('invalid-request', `compare takes two pictures, got ${positionals.length}`);
    }
    const config = configWith(values);
    const frames = { before: await readFrame(beforePath), after: await readFrame(afterPath) };
    const output = await withPipeline(config, (pipeline) => pipeline.compare(frames));
    console.log(values.json ? JSON.stringify(output.finding, null, 2) : describe(output));
    if (values.heatmap !== undefined) {
      await writeWhole(values.heatmap, await drawHeatmaps(frames, output.heatmaps, config.pixelLimit));
    }
    return 0;
  },
};

function configWith({ model, device }: { model?: string | undefined; device?: string | undefined }): Config {
  const config = loadConfig();
  return {
    ...config,
    defaultModel: model ?? config.defaultModel,
    // read as the setting is, and refused like it
    device: device === undefined ? config.device : loadConfig({ DEVICE: device }).device,
  };
}

/** One pair never needs more than two threads: one a frame. */
async function withPipeline<T>(config: Config, use: (pipeline: Pipeline) => Promise<T>): Promise<T> {
  const logger = createLogger({ level: 'silent', name: 'compare' });
  const pipeline = await withBundles(
    createPipeline({ config: { ...config, inferenceThreads: config.inferenceThreads || 2 }, logger }),
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

/** @returns PNG */
async function drawHeatmaps(
  frames: Record<Side, Uint8Array>,
  heatmaps: HeatmapData | null,
  pixelLimit: number,
): Promise<Uint8Array> {
  const overlay = async (side: Side): Promise<RgbImage> => {
    const allocate = (bytes: number) => new Uint8Array(bytes);
    const frame = await decodeFrame(frames[side], { side, pixelLimit, allocate });
    return heatmaps === null ? frame : renderOverlay(heatmaps[side], frame);
  };
  const { data, width, height } = sideBySide(await overlay('before'), await overlay('after'));
  return sharp(data, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
}

function describe({ finding }: PairOutput): string {
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
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
  const { model } = finding;
  lines.push(
    `model       ${model === null ? 'not asked: same pixels' : `${model.name} ${model.version}, ${model.provider}`}`,
  );
  return lines.join('\n');
}
