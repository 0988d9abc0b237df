/**
 * Which changed regions lie in the scene, and which on the lens or in the air before it: drops, insects, dirt, glare. A
 * fitted model of the pixels, of the network's own scores and of the namer's classes decides it for each region.
 */
import type { Heatmap, Side } from '../base/images.js';
import { allSettledOrThrow } from '../frames/pair.js';
import type { Prediction } from '../model/calibration.js';
import type { RegionRow } from '../model/lens-schema.js';
import { classesOf, type Names } from '../model/naming.js';
import { type MapRegion, strongestPlace } from '../model/regions.js';
import type { Cover } from '../viewpoint/lens/cover.js';
import type { LensMeasurements } from '../viewpoint/lens/measure.js';
import { mean } from '../viewpoint/statistics.js';
import { mostLocations, type Wanted } from './describe.js';
import { judged, judgedByTrees, oddsOf } from './judge.js';
import type { RegionEvidence } from './judge-evidence.js';
import { notBehind } from './lost-parts.js';
import { cropsOf, type NamedCrop, nameCrops } from './named-crops.js';
import type { AlignedPair } from './pair.js';

/** The nuisance that is named if a region lies on the lens. */
const LENS = 'lens';

export interface LocatedRegions {
  /** the regions of the scene, and the prediction about them: it is no change if there is none */
  readonly regions: readonly MapRegion[];
  readonly prediction: Prediction;
  /** the change maps without the regions on the lens */
  readonly maps: Readonly<Record<Side, Heatmap>>;
  /** of all regions; empty of a bundle that does not separate them */
  readonly evidence: readonly RegionEvidence[];
  readonly onLens: readonly MapRegion[];
  /** whether most of them lie on the lens */
  readonly mostOnLens: boolean;
  /** of the regions; undefined: the bundle does not separate them, or nothing changed */
  readonly crops?: readonly NamedCrop[];
}

/** @param cover that hides a part of the view; null: nothing does */
export async function locate(
  parts: Parameters<typeof nameCrops>[0],
  { bundle, statements }: Pick<Wanted, 'bundle' | 'statements'>,
  { frames, difference: maps }: Pick<AlignedPair, 'frames' | 'difference'>,
  fused: Prediction,
  all: readonly MapRegion[],
  cover: Cover | null = null,
): Promise<LocatedRegions> {
  const { name, lens, names } = bundle.manifest;
  const prediction = cover === null ? fused : withLens(fused, cover.share);
  const regions = notBehind(all, cover);
  // A change that no region shows is looked at where the maps show most.
  const looked = regions.length > 0 ? regions : [strongestPlace(maps)].filter((one) => one !== null);
  if (lens === undefined || names === undefined || !prediction.changed || looked.length === 0) {
    return { regions, prediction, maps, evidence: [], onLens: [], mostOnLens: false };
  }
  const [measured, crops] = await allSettledOrThrow(
    parts.pool.run('measureRegions', name, { ...frames, regions: looked }),
    nameCrops(parts, bundle, frames, looked, mostLocations(bundle, statements)),
  );
  const rows = looked.map(
    (region, i): RegionRow => ({
      ...(measured[i] as LensMeasurements),
      ...classesIn(region, crops, names),
      score: region.score,
      cells: Math.log(region.area),
      changed: oddsOf(prediction.change),
      count: Math.log(looked.length),
    }),
  );
  const odds = rows.map((row) => oddsOf(judgedByTrees(lens, row)));
  const evidence = looked.map(({ side, box }, i): RegionEvidence => {
    const row = rows[i] as RegionRow;
    const others = mean(odds.filter((_, other) => other !== i));
    const probability = judged(lens.beside, { region: odds[i] as number, others });
    return { side, box, row, probability };
  });
  const probabilities = evidence.map(({ probability }) => probability);
  const judgedRegions = looked.map((region, i) => ({ ...region, scene: probabilities[i] as number }));
  const [ofScene, onLens] = partition(judgedRegions, ({ scene }) => scene >= 0.5);
  const shown = regions.length > 0 ? ofScene : [];
  const mostOnLens = onLens.length > ofScene.length;
  const kept = { regions: shown, evidence, crops: cropsOf(crops, shown), onLens, mostOnLens };
  if (onLens.length === 0) return { ...kept, prediction, maps };
  return {
    ...kept,
    prediction: {
      ...withLens(prediction, 1 - Math.min(...probabilities)),
      // The scene changed if something changed and the likeliest region of the scene is one.
      change: prediction.change * (ofScene.length > 0 ? 1 : Math.max(...probabilities)),
      changed: ofScene.length > 0,
    },
    maps: {
      before: without(maps.before, 'before', onLens, ofScene),
      after: without(maps.after, 'after', onLens, ofScene),
    },
  };
}

/** The parts of a finding about a hidden view, in the frame as it came: regions on the lens, and a cover. */
export function hiddenByLens({ onLens }: LocatedRegions, cover: Cover | null, { toSourceFrame }: AlignedPair) {
  const boxes = onLens.flatMap((region) => toSourceFrame.region(region)?.box ?? []);
  const hidden = [...boxes, ...(cover?.boxes ?? [])];
  return { ...(cover && { lens: cover }), ...(hidden.length > 0 && { on_lens: hidden }) };
}

/** The prediction with the nuisance of the lens as the first. @param score 0..1 */
const withLens = (prediction: Prediction, score: number): Prediction => ({
  ...prediction,
  nuisances: [{ name: LENS, score }, ...prediction.nuisances.filter(({ name }) => name !== LENS)],
});

function partition<T>(all: readonly T[], test: (one: T) => boolean): [T[], T[]] {
  return [all.filter(test), all.filter((one) => !test(one))];
}

/** The map of a frame with 0 in the boxes of regions, but not in those of others. */
function without(map: Heatmap, side: Side, regions: readonly MapRegion[], others: readonly MapRegion[]): Heatmap {
  const { width, height } = map;
  const data = map.data.map((value, i) => {
    const [x, y] = [((i % width) + 0.5) / width, (Math.floor(i / width) + 0.5) / height];
    const covers = ({ side: of, box }: MapRegion) =>
      of === side && x > box.x && x < box.x + box.width && y > box.y && y < box.y + box.height;
    return regions.some(covers) && !others.some(covers) ? 0 : value;
  });
  return { width, height, data };
}

/** The namer's classes of a region in its frame, and how sure it is of a colour; 0 of a region without a crop. */
function classesIn(region: MapRegion, crops: readonly NamedCrop[], names: Names) {
  const shown = crops.find(({ regions }) => regions.includes(region))?.names[region.side];
  if (shown === undefined) return { nothing: 0, person: 0, vehicle: 0, animal: 0, object: 0, colour: 0 };
  const { nothing, shares, colours } = classesOf(shown, names);
  const of = (word: string): number => shares.get(word) ?? 0;
  const classes = { person: of('person'), vehicle: of('vehicle'), animal: of('animal'), object: of('object') };
  return { nothing, ...classes, colour: Math.max(...colours.values()) };
}
