/**
 * Schema of `lens` of a bundle's manifest: boosted trees (pipeline/lens.ts) about whether a changed region lies in the
 * scene, and not on the lens. `training.fits lens` fits them.
 */
import { type Static, Type } from 'typebox';
import { linearOf, strict, treesOf } from './judge-schema.js';

/**
 * The columns for a changed region: measurements of viewpoint/lens, outputs of the graph `difference` about it, the
 * number of regions of the pair, and the namer's classes and colours of its picture.
 */
const REGION = [
  ...['ownSteep', 'ownEdge', 'ownEdgeWide', 'ownFine', 'otherFine', 'ownCoarse', 'otherCoarse'],
  ...['fineKept', 'middleKept', 'wideKept', 'change', 'oneSided', 'light', 'black', 'hue', 'fill', 'size'],
  ...['aspect', 'score', 'cells', 'changed', 'count', 'nothing', 'person', 'vehicle', 'animal', 'object', 'colour'],
] as const;

/**
 * The columns that correct it by the other regions of the pair, because drops do not come alone: the log-odds of the
 * region and the mean of those of the others.
 */
const BESIDE = ['region', 'others'] as const;

export const LensSchema = Type.Object({ ...treesOf(REGION).properties, beside: linearOf(BESIDE) }, strict);
export type LensManifest = Static<typeof LensSchema>;

/** @returns position of the first tree with a node that names itself, one before it, or none; -1: there is none */
export const brokenTree = ({ trees }: LensManifest): number =>
  trees.findIndex((nodes) =>
    nodes.some(
      (node, i) =>
        typeof node === 'object' && node.slice(2).some((next) => Number(next) <= i || Number(next) >= nodes.length),
    ),
  );

/** Evidence about one changed region by the name of its column. */
export type RegionRow = Readonly<Record<(typeof REGION)[number], number>>;
