/** The facts of a frame for the visits, from its finding and the things that its pixels show. Pure. */
import { union } from '../../base/images.js';
import type { Finding } from '../../schemas/comparison.js';
import { mayHide } from '../../schemas/hiding-nuisances.js';
import type { SeenThing } from '../../schemas/seen-thing.js';
import type { VisitFrame, VisitThing } from './state.js';

type Found = Pick<Finding, 'verdict' | 'nuisance' | 'regions' | 'facts'>;

/** @param finding null: there was nothing to compare with */
export function viewOf(finding: Found | null, examined: boolean): VisitFrame['view'] {
  if (finding === null || finding.verdict === 'tamper') return 'hidden';
  if (mayHide(finding) && finding.verdict !== 'change') return 'hidden';
  return examined ? 'shows' : 'equals';
}

/**
 * @param finding that counts for the camera: things of regions that zones have excluded are left out
 * @param all regions of the comparison, before zones were applied
 * @param seen the things of all regions; default: each region is one thing, of unknown colours
 */
export function visitThings(
  finding: Found,
  all: Found['regions'],
  seen: readonly Omit<SeenThing, 'filled'>[] = all.map(({ id, side, box }) => ({ region: id, side, box, colours: [] })),
): VisitThing[] {
  const { regions, facts = [] } = finding;
  const placed = seen.flatMap((thing) => {
    const found = all.find(({ id }) => id === thing.region);
    const region = regions.find(({ side, box }) => side === found?.side && isSameBox(box, found.box));
    return region === undefined ? [] : [{ thing, region }];
  });
  return placed.flatMap(({ thing, region }): VisitThing[] => {
    const fact = facts.find((one) => one.regions.includes(region.id));
    const name = fact === undefined ? null : nameOf(fact);
    const parts = placed.filter((other) => other.region === region).map((other) => other.thing);
    const { side, box, colours } = thing;
    const shown = { side, colours, score: region.score };
    // Doors and wheels of a vehicle are separate as well.
    if (name?.class === 'vehicle') {
      return thing === parts[0] ? [{ ...shown, box: parts.map((part) => part.box).reduce(union), name }] : [];
    }
    const sharing = placed.filter((one) => one.thing.side === side && fact?.regions.includes(one.region.id)).length;
    return [{ ...shown, box, name: name && sharedBy(sharing, parts.length === 1 ? name : { ...name, count: 1 }) }];
  });
}

type Name = NonNullable<VisitThing['name']>;

/** The pixels separate people who walk side by side, and a bag from its owner: a name may be that of any of them. */
const sharedBy = (things: number, name: Name): Name => ({
  ...name,
  nounProbability: name.nounProbability / things,
  colourProbability: name.colourProbability / things,
  classProbability: name.classProbability / things,
});

const isSameBox = (a: SeenThing['box'], b: SeenThing['box']): boolean =>
  a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height;

function nameOf({ noun, colour, class: likely, count }: NonNullable<Finding['facts']>[number]): Name | null {
  if (!likely) return null;
  return {
    noun: noun.value,
    nounProbability: noun.probability,
    colour: colour?.value ?? null,
    colourProbability: colour?.probability ?? 0,
    class: likely.value,
    classProbability: likely.probability,
    count: count.value,
  };
}
