/**
 * Pipelines over the hand-made bundle, with the compiled threads of dist/ (npm test builds it first). The bundle's
 * answers follow from the rules in test/fixtures/make-tiny-bundle.py.
 */
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import type { Heatmap } from '../../src/base/images.js';
import { Pipeline } from '../../src/pipeline/compare.js';
import type { PipelineOptions } from '../../src/pipeline/start-pool.js';
import { loadConfig } from '../../src/process/config.js';
import type { Logger } from '../../src/process/logger.js';
import { type Block, scene } from '../frames/pictures.js';
import { TINY } from '../model/tiny-bundle.js';

// Processes and threads start slowly on a busy machine; no test here is about speed.
jest.setTimeout(120_000);

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

/** Removes the folder after the tests of the file. */
export function removeLater<T extends { modelsDir: string }>(made: T): T {
  folders.push(made.modelsDir);
  return made;
}

/** A models folder with the tiny bundle, and a bundle `torn` whose hash is wrong. */
export async function modelsFolder(): Promise<string> {
  const { modelsDir } = removeLater({ modelsDir: await mkdtemp(join(tmpdir(), 'sd-models-')) });
  await cp(TINY, join(modelsDir, 'bundle-tiny'), { recursive: true });
  await cp(TINY, join(modelsDir, 'torn'), { recursive: true });
  await writeFile(join(modelsDir, 'torn', 'caption.onnx'), 'torn');
  return modelsDir;
}

export const log = { error: jest.fn(), warn: jest.fn(), info: jest.fn() };

const THREAD = new URL('../../dist/inference/thread.js', import.meta.url);

export const startTiny = async (
  config: Partial<PipelineOptions['config']> = {},
  { threadScript = THREAD, ...options }: Partial<Pick<PipelineOptions, 'threadScript' | 'warmUp'>> = {},
): Promise<Pipeline> =>
  Pipeline.start({
    config: {
      ...loadConfig({}),
      defaultModel: 'bundle-tiny',
      device: 'cpu',
      inferenceThreads: 2,
      ...config,
      modelsDir: config.modelsDir ?? (await modelsFolder()),
    },
    logger: log as unknown as Logger,
    threadScript,
    ...options,
  });

export const [W, H] = [480, 320];
export const RED: Block = { x: 40, y: 160, width: 80, height: 80, colour: [250, 80, 60] };
export const WHITE: Block = { x: 360, y: 80, width: 80, height: 80, colour: [250, 250, 250] };
export const image = (blocks: readonly Block[] = [], level = 50): Promise<Buffer> =>
  scene(W, H, blocks, level).jpeg({ quality: 95, chromaSubsampling: '4:4:4' }).toBuffer();

/** The maximum of a map, and its position as fractions of the frame. */
export function peak(map: Heatmap | undefined): { x: number; y: number; value: number } {
  if (map === undefined) throw new Error('no map');
  const value = Math.max(...map.data);
  const cell = map.data.indexOf(value);
  return {
    x: ((cell % map.width) + 0.5) / map.width,
    y: (Math.floor(cell / map.width) + 0.5) / map.height,
    value,
  };
}
export const highest = (map: Heatmap | undefined): number => peak(map).value;
