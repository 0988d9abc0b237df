/** The facts of a frame for the visits, from its finding and the things that its pixels show. Pure. */
import { union } from '../images.js';
import type { Finding } from '../schemas/comparison.js';
import type { SeenThing } from '../schemas/seen-thing.js';
import type { VisitFrame, VisitThing } from './state.js';

/** Nuisances that may hide a thing, as for changes: such a frame proves no absence. */
const HIDING: ReadonlySet<string> = new Set(['ir_switch', 'weather', 'defocus']);

type Found = Pick<Finding, 'verdict' | 'nuisance' | 'regions' | 'facts'>;

/** @param finding null: there was nothing to compare with */
export function viewOf(finding: Found | null, examined: boolean): VisitFrame['view'] {
  if (finding === null || finding.verdict === 'tamper') return 'hidden';
  if (finding.nuisance.some(({ name }) => HIDING.has(name)) && finding.verdict !== 'change') return 'hidden';
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
  return seen.flatMap((thing): VisitThing[] => {
    const found = all.find(({ id }) => id === thing.region);
    const region = regions.find(({ side, box }) => side === found?.side && isSameBox(box, found.box));
    if (region === undefined) return [];
    const fact = facts.find((one) => one.regions.includes(region.id));
    const name = fact === undefined ? null : nameOf(fact);
    const parts = seen.filter((other) => other.region === thing.region);
    const { side, box, colours } = thing;
    const shown = { side, colours, score: region.score };
    // The pixels separate people who walk side by side. Doors and wheels of a vehicle are separate as well.
    if (name === null || name.class !== 'vehicle') {
      return [{ ...shown, box, name: name === null || parts.length === 1 ? name : { ...name, count: 1 } }];
    }
    return thing === parts[0] ? [{ ...shown, box: parts.map((part) => part.box).reduce(union), name }] : [];
  });
}

const isSameBox = (a: SeenThing['box'], b: SeenThing['box']): boolean =>
  a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height;

function nameOf({ noun, colour, class: likely, count }: NonNullable<Finding['facts']>[number]) {
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
