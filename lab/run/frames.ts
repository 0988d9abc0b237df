/**
 * The pairs of a manifest and their frames on disk: finds, measures and reads them, and applies synthetic nuisances.
 */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ScenedeltaError } from '../../src/base/errors.js';
import { type Box, SIDES, type Side, type Size } from '../../src/base/images.js';
import { mapSides } from '../../src/frames/pair.js';
import sharp from '../../src/frames/sharp.js';
import { carryBox } from '../../src/viewpoint/carry.js';
import { type MadeNuisance, perturb } from '../figures/nuisances.js';
import { bad, normalise, type Pair, parsePairs } from '../figures/pairs.js';
import { decode, type PairBytes } from './bundle-runner.js';

/** Pairs of a manifest whose frames all exist and have a readable header. */
export interface PairFolder {
  /** normalised */
  readonly pairs: readonly Pair[];
  read(pair: Pair): Promise<PairBytes>;
  /** Prefixes an error about this pair with the manifest and the pair's line. */
  withLine(pair: Pair, error: unknown): unknown;
}

/** @throws ScenedeltaError 'invalid-request' naming file, line and reason */
export async function openPairs(file: string): Promise<PairFolder> {
  const text = await readText(file);
  const pathOf = (pair: Pair, side: Side) => resolve(dirname(file), pair.frames[side]);
  const pairs: Pair[] = [];
  for (const pair of parsePairs(text, file)) {
    pairs.push(normalise(pair, await mapSides((side) => measure(pathOf(pair, side), file, pair))));
  }
  return {
    pairs,
    async read(pair) {
      const [before, after] = await Promise.all(SIDES.map((side) => readFile(pathOf(pair, side))));
      return { before: before as Uint8Array, after: after as Uint8Array };
    },
    withLine: (pair, error) => (error instanceof ScenedeltaError ? bad(file, pair.line, error.message) : error),
  };
}

export async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new ScenedeltaError('invalid-request', `${file}: ${reasonOf(error)}`, { cause: error });
  }
}

/** Size in pixels after EXIF orientation; it must equal the size that the manifest states, if any. */
async function measure(path: string, file: string, pair: Pair): Promise<Size> {
  const { width, height } = await sizeOf(path).catch((error: unknown) => {
    throw bad(file, pair.line, `${path}: ${reasonOf(error)}`);
  });
  const stated = { width: pair.size.width ?? width, height: pair.size.height ?? height };
  if (stated.width !== width || stated.height !== height) {
    throw bad(
      file,
      pair.line,
      `the line says ${stated.width} x ${stated.height}, and ${path} has ${width} x ${height} pixels`,
    );
  }
  return { width, height };
}

async function sizeOf(path: string): Promise<Size> {
  const { width, height } = (await sharp(await readFile(path)).metadata()).autoOrient;
  return { width, height };
}

function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT') return 'no such file';
  return code === undefined ? 'not a picture that can be read' : `cannot be read (${code})`;
}

/** Applies a nuisance to the after frame, and moves the boxes of that frame with it. */
export async function withNuisance(
  nuisance: MadeNuisance,
  pair: Pair,
  bytes: PairBytes,
  pixelLimit: number,
): Promise<{ pair: Pair; bytes: PairBytes }> {
  const { image, jpegQuality, homography } = perturb(nuisance, await decode(bytes.after, 'after', pixelLimit), pair.id);
  const raw = sharp(image.data, { raw: { width: image.width, height: image.height, channels: 3 } });
  const after = await (jpegQuality === null
    ? raw.png({ compressionLevel: 1 })
    : raw.jpeg({ quality: jpegQuality })
  ).toBuffer();
  if (homography === null) return { pair, bytes: { ...bytes, after } };
  const move = (boxes: readonly Box[]) => boxes.flatMap((box) => carryBox(box, homography) ?? []);
  const moved = <T extends Pick<Pair, 'boxes'>>(owner: T): T => ({
    ...owner,
    boxes: { ...owner.boxes, after: move(owner.boxes.after) },
  });
  return { pair: { ...moved(pair), objects: pair.objects.map(moved) }, bytes: { ...bytes, after } };
}
