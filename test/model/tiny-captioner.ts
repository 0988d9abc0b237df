/** Graphs of the hand-made bundle, opened for a file of tests, and images that they read. */
import { join } from 'node:path';
import type { Captioner, Graphs } from '../../src/model/captioner.js';
import type { Features } from '../../src/model/graph-io.js';
import { type Bundle, loadBundle } from '../../src/model/manifest.js';
import { openGraph } from '../../src/model/session.js';
import { TINY } from './tiny-bundle.js';

export const [WIDTH, HEIGHT] = [96, 64];

export interface TinyCaptioner {
  readonly bundle: Bundle;
  readonly graphs: Graphs;
}

export async function openTiny(): Promise<TinyCaptioner> {
  const open = (file: string) => openGraph(join(TINY, file), 'cpu');
  const graphs = {
    features: await open('features.onnx'),
    difference: await open('difference.onnx'),
    caption: await open('caption.onnx'),
  };
  return { bundle: await loadBundle(TINY), graphs };
}

export async function release({ graphs }: TinyCaptioner): Promise<void> {
  for (const graph of Object.values(graphs)) await graph.release();
}

/** Planar dark image with a light block. */
export function image(block?: { x: number; y: number; size: number; level: number }): Float32Array {
  const pixels = new Float32Array(3 * HEIGHT * WIDTH).fill(0.2);
  if (block === undefined) return pixels;
  for (let channel = 0; channel < 3; channel++) {
    for (let y = block.y; y < block.y + block.size; y++) {
      const start = (channel * HEIGHT + y) * WIDTH + block.x;
      pixels.fill(block.level, start, start + block.size);
    }
  }
  return pixels;
}

export const encode = async (pixels: Float32Array, model: Captioner): Promise<Features> =>
  (await model.encode([pixels], HEIGHT, WIDTH))[0] as Features;
