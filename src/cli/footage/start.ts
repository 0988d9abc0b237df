/** Beginning and end of a command about recordings: the plan of its inputs, and the pipeline. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../base/clock.js';
import { invalidRequest } from '../../base/errors.js';
import type { Size } from '../../base/images.js';
import type { CameraSettings } from '../../camera/settings/settings.js';
import { type ListedFile, listFiles } from '../../footage/inputs/list-files.js';
import { localFiles } from '../../footage/inputs/local-files.js';
import { type PlanOptions, planRecording, type RecordingPlan } from '../../footage/inputs/plan.js';
import { Pipeline } from '../../pipeline/compare.js';
import type { Config } from '../../process/config.js';
import { createProxies } from '../../process/proxies.js';
import { SILENT } from '../../process/silent-logger.js';
import { createS3Client, type S3Client } from '../../stores/blobs/s3-client.js';
import { sourcesOnly } from '../../stores/blobs/s3-sources.js';
import { listenForStop } from '../command.js';
import { configWith, withBundles } from '../config-with.js';
import { type FootageOptions, readSettings, readStart, readTemplate } from './options.js';
import { firstFrameSize } from './range.js';
import { readSeconds } from './recording-options.js';

/** Options that decide which files belong to which camera, and when they are from. */
type PlanChoices = Pick<FootageOptions, 'template' | 'tz' | 'camera' | 'start' | 'imageInterval' | 'outputDir'>;

/** Graphs are opened when frames need them, so that the first frame is not preceded by runs of all graphs. */
export function startPipeline(config: Config): Promise<Pipeline> {
  return withBundles(config, Pipeline.start({ config, logger: SILENT, onlyDefault: true, warmUp: false }));
}

/** @returns undefined if S3_ENDPOINT is not set @throws ScenedeltaError 'invalid-request' without credentials */
export function s3Sources(config: Config): S3Client | undefined {
  const s3 = createS3Client(config, createProxies(config));
  return s3 && sourcesOnly(s3, config);
}

export async function planOf(
  inputs: readonly string[],
  options: PlanChoices,
  config: Config,
  signal: AbortSignal,
): Promise<{ plan: RecordingPlan; timeZone: string }> {
  const { template, timeZone } = readTemplate(options);
  const files = new Map<string, ListedFile>();
  const s3 = s3Sources(config);
  for (const input of inputs) {
    const listing = listFiles(input, { outputs: options.outputDir || null, s3 });
    // Several names that are not UTF-8 may look alike.
    for await (const file of listing) files.set(file.fault ? `${file.file} ${files.size}` : file.file, file);
  }
  if (files.size === 0) {
    throw invalidRequest(`${inputs.join(' ')}: expected videos or pictures, and found none`);
  }
  const planOptions: PlanOptions = {
    template,
    timeZone,
    signal,
    camera: options.camera ?? null,
    start: readStart(options, timeZone),
    imageInterval: readSeconds('imageInterval', options.imageInterval),
    ffmpeg: config.ffmpeg,
    videoPixelLimit: config.videoPixelLimit,
    now: systemClock(),
  };
  return { plan: await planRecording(files.values(), planOptions), timeZone };
}

/** Recordings of a command that looks at single frames of them. */
export interface Recordings {
  readonly plan: RecordingPlan;
  readonly timeZone: string;
  readonly config: Config;
  readonly settings: CameraSettings;
  readonly signal: AbortSignal;
  /** of the first camera */
  frameSize(): Promise<Size>;
  readonly materialize: ReturnType<typeof localFiles>;
  /** Opens the pipeline, once. */
  pipeline(): Promise<Pipeline>;
}

/** Options of such a command. */
export interface InputOptions extends Omit<PlanChoices, 'outputDir'> {
  readonly config?: string;
  readonly outputDir?: string;
  readonly model?: string;
  readonly device?: string;
}

/** Runs such a command on its inputs; downloads and the pipeline are gone when it has ended. */
export async function withRecordings(
  inputs: readonly string[],
  options: InputOptions,
  work: (recordings: Recordings) => Promise<void>,
): Promise<void> {
  const config = await configWith(options);
  const { signal, done } = listenForStop();
  const downloads = await mkdtemp(join(tmpdir(), 'scenedelta-'));
  let pipeline: Pipeline | undefined;
  try {
    const planned = await planOf(inputs, { ...options, outputDir: options.outputDir ?? '' }, config, signal);
    const frameSize = () => firstFrameSize(planned.plan, config, signal);
    await work({
      ...planned,
      config,
      signal,
      frameSize,
      settings: await readSettings(options.config === undefined ? {} : { config: options.config }, frameSize),
      materialize: localFiles(downloads, s3Sources(config)),
      pipeline: async () => {
        pipeline ??= await startPipeline(config);
        return pipeline;
      },
    });
  } finally {
    await pipeline?.close();
    await rm(downloads, { recursive: true, force: true });
    done();
  }
}
