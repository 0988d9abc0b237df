/**
 * The main export of the package: comparisons of two frames in the caller's own process, without Redis or the service.
 *
 *     import { Pipeline } from 'scenedelta';
 *     const pipeline = await Pipeline.open();
 *     const { finding } = await pipeline.compare(await readFile('before.jpg'), await readFile('after.jpg'));
 *     console.log(finding.verdict, finding.caption);
 *     await pipeline.close();
 */
import { outlinedPair } from '../frames/outlined-pair.js';
import sharp from '../frames/sharp.js';
import type { Locale } from '../language/locales.js';
import { DEFAULT_LOCALE, translated } from '../language/translate.js';
import { Pipeline as ServicePipeline } from '../pipeline/compare.js';
import { cacheFolder } from '../process/cache-folder.js';
import { type Config, loadConfig } from '../process/config.js';
import { SILENT } from '../process/silent-logger.js';
import type { Finding } from '../schemas/comparison.js';
import { roundFigures } from '../schemas/rounding.js';

export { ScenedeltaError } from '../base/errors.js';
export type { Finding, Locale };

export interface OpenSettings {
  /** folder with one folder per bundle; default: `models` of the package */
  readonly modelsDir?: string;
  /** name of the bundle; default: scorer-surveillance */
  readonly model?: string;
  /** auto, cpu or cuda:N; default: auto */
  readonly device?: string;
  /** inference threads, 0 to 256; 0 = one per core; default: 1, which is best for one pair at a time */
  readonly threads?: number;
}

export interface CompareOptions {
  /** language of the sentence; default: en */
  readonly locale?: Locale;
  /** probability from which the verdict is a change, 0..1; default: that of the bundle */
  readonly threshold?: number;
  /** time from `before` to `after`: no move is stated of people after minutes, and of vehicles after hours */
  readonly secondsApart?: number;
  readonly signal?: AbortSignal;
}

export interface Compared {
  readonly finding: Finding;
  /** @returns both frames side by side with the outlines of what changed, as PNG */
  outline(): Promise<Uint8Array>;
}

export class Pipeline {
  readonly #pipeline: ServicePipeline;
  readonly #pixelLimit: number;

  private constructor(pipeline: ServicePipeline, { pixelLimit }: Config) {
    this.#pipeline = pipeline;
    this.#pixelLimit = pixelLimit;
  }

  /**
   * Reads the bundle and starts the inference threads. Environment variables are not read.
   * @throws BundleError if the bundle is missing or broken; ScenedeltaError 'invalid-request' if a setting does not fit
   */
  static async open({ modelsDir, model, device, threads = 1 }: OpenSettings = {}): Promise<Pipeline> {
    const given = {
      MODELS_DIR: modelsDir,
      DEFAULT_MODEL: model,
      DEVICE: device,
      INFERENCE_THREADS: String(threads),
      DATA_DIR: await cacheFolder(),
    };
    const config = loadConfig(given);
    const options = { config, logger: SILENT, onlyDefault: true, warmUp: false };
    return new Pipeline(await ServicePipeline.start(options), config);
  }

  /**
   * @param before encoded bytes of the earlier frame: JPEG, PNG, WebP, AVIF, TIFF or GIF
   * @param after of the later frame of the same camera, with the same aspect ratio or stretched
   * @throws ScenedeltaError image-unreadable, image-too-large, image-too-small (field before or after),
   *   frames-differ-in-shape, cancelled, inference-failed, processing-timeout
   */
  async compare(before: Uint8Array, after: Uint8Array, options: CompareOptions = {}): Promise<Compared> {
    const { locale = DEFAULT_LOCALE, ...rest } = options;
    const { finding, heatmaps } = await this.#pipeline.compare({ before, after, ...rest });
    return {
      finding: translated(roundFigures(finding), locale),
      outline: async () => {
        const { data, width, height } = await outlinedPair({ before, after }, heatmaps, this.#pixelLimit);
        return sharp(data, { raw: { width, height, channels: 3 } })
          .png()
          .toBuffer();
      },
    };
  }

  /** Ends the inference threads; a comparison that runs is finished first. */
  close(): Promise<void> {
    return this.#pipeline.close();
  }
}
