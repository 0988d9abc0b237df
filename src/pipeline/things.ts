/**
 * The things that the changed regions show in their frames, with the evidence of all witnesses. A
 * person whom the detector sees in a region is a thing alone; otherwise the region is one thing.
 */
import type { Box, RgbImage, Side } from '../base/images.js';
import type { CropNames } from '../model/graph-io.js';
import { classesOf, type Decoded, type Names } from '../model/naming.js';
import { intersectionOverUnion, type MapRegion } from '../model/regions.js';
import type { Judge } from './judge.js';
import type { NamedCrop } from './named-crops.js';
import { type Detections, type ExaminedBox, examinePeople } from './people.js';
import { joinedThing, type TightThing, tightThings } from './seen-things.js';
import type { Witness } from './witness.js';

export interface Thing extends TightThing {
  readonly region: MapRegion;
  /** position of its crop among all */
  readonly crop: number;
  readonly names: CropNames;
  readonly decoded: readonly Decoded[];
  readonly witness: Witness;
  /** probability that the picture shows no thing, and the shares of the classes of a thing, by the namer */
  readonly nothing: number;
  readonly shares: ReadonlyMap<string, number>;
  /** of the detector's box; 0: it is a region */
  readonly person: number;
}

export interface Things {
  readonly all: readonly Thing[];
  /** per region, those whom the detector sees there */
  readonly people: ReadonlyMap<MapRegion, readonly Box[]>;
  readonly examined: readonly { readonly side: Side; readonly box: ExaminedBox }[];
}

/** @param witnesses in the order of the crops */
export function thingsOf(
  frames: Readonly<Record<Side, RgbImage>>,
  crops: readonly NamedCrop[],
  witnesses: readonly Witness[],
  detections: Detections,
  names: Names,
  judge: Judge,
): Things {
  const people = new Map<MapRegion, readonly Box[]>();
  const examined: { side: Side; box: ExaminedBox }[] = [];
  const thingsIn = (region: MapRegion, shown: NamedCrop['names'], crop: number): Thing[] => {
    const { side } = region;
    const witness = witnesses[crop] as Witness;
    const decoded = witness.clauses.flatMap(({ things }) => things[side] ?? []);
    const { nothing, shares } = classesOf(shown[side], names);
    const named = {
      person: (1 - nothing) * (shares.get('person') ?? 0),
      vehicle: (1 - nothing) * (shares.get('vehicle') ?? 0),
      nothing,
      decodedPerson: decoded.filter(({ noun }) => isPersonNoun(noun, names)).length / 2,
    };
    const boxes = examinePeople(region.box, detections.boxes.get(region) ?? [], frames, named, judge);
    examined.push(...boxes.map((box) => ({ side, box })));
    const seen = boxes.filter(({ probability }) => probability >= judge.levels.person);
    const boxesSeen = seen.map(({ box }) => box);
    people.set(region, boxesSeen);
    const tight = tightThings(frames, region, boxesSeen);
    const common = { region, crop, names: shown[side], decoded, witness, nothing, shares };
    return seen.length > 0
      ? tight.map((thing, i) => ({ ...thing, ...common, person: seen[i]?.probability ?? 0 }))
      : [{ ...joinedThing(tight), ...common, person: 0 }];
  };
  const all = crops.flatMap(({ regions, names: shown }, i) => regions.flatMap((one) => thingsIn(one, shown, i)));
  return { all: withoutRepeats(all), people, examined };
}

/** Boxes of two regions may be of one person: those that share a third of what both cover. */
function withoutRepeats(things: readonly Thing[]): Thing[] {
  const isSame = (a: Thing, b: Thing): boolean =>
    a.side === b.side && a.person > 0 && b.person > 0 && 3 * intersectionOverUnion(a.box, b.box) > 1;
  return things.filter((thing, i) => !things.slice(0, i).some((other) => isSame(thing, other)));
}

export const isPersonNoun = (noun: string, { wider }: Names): boolean => noun === 'person' || wider[noun] === 'person';
