/**
 * Schema of `lens` of a bundle's manifest: a logistic regression (pipeline/lens.ts) of whether a changed region lies in
 * the scene, and not on the lens. `training.fits lens` fits it.
 */
import { type Static, Type } from 'typebox';
import { Level, linearOf, strict } from './judge-schema.js';

/** The columns for a changed region: measurements of viewpoint/lens, and outputs of the graph `difference` about it. */
const REGION = [
  ...['ownSteep', 'ownEdge', 'ownEdgeWide', 'ownFine', 'otherFine', 'ownCoarse', 'otherCoarse'],
  ...['fineKept', 'middleKept', 'wideKept', 'change', 'oneSided', 'light', 'black', 'fill', 'size', 'aspect'],
  ...['score', 'cells', 'changed'],
] as const;

/**
 * The columns that correct it by the other regions of the pair, because drops do not come alone: the log-odds of the
 * region and the mean of those of the others.
 */
const BESIDE = ['region', 'others'] as const;

/** `scene`: least probability of a region that counts as a change of the scene. */
export const LensSchema = Type.Object(
  { ...linearOf(REGION).properties, beside: linearOf(BESIDE), scene: Level },
  strict,
);
export type LensManifest = Static<typeof LensSchema>;

/** Evidence about one changed region by the name of its column. */
export type RegionRow = Readonly<Record<(typeof REGION)[number], number>>;
