/**
 * Evidence of a change for the describer: the regions that show it, and per region our role and nouns. The describer
 * gets the boxes alone; its answer is compared with the rest. Pure.
 */
import { isSameLocation } from '../changes/locations.js';
import { toChangeRegion } from '../changes/observation.js';
import { type Box, SIDES, type Side, sharedArea } from '../images.js';
import { type Direction, readCaption } from '../language/people/captions.js';
import { SOMETHING } from '../language/thing.js';
import type { FoundChange } from '../schemas/change.js';
import type { Comparison, Fact, Finding, Region, StatementKind } from '../schemas/comparison.js';
import type { Happened } from '../schemas/description.js';

/** Regions of one change that the describer gets at most, the strongest first. */
const MOST_PLACES = 3;
/** The frames that show a thing of which a sentence states a direction. */
const SIDES_OF_DIRECTION: Readonly<Record<Direction, readonly Side[]>> = {
  appear: ['after'],
  disappear: ['before'],
  move: SIDES,
  alter: SIDES,
};

/** Our role of a thing, in the words of the describer's answer. */
const ROLE_OF_KIND: Readonly<Record<StatementKind, Exclude<Happened, 'nothing'>>> = {
  appear: 'appeared',
  disappear: 'disappeared',
  move: 'moved',
  replace: 'replaced',
};

/** Our nouns of the thing that one frame shows, in the singular. */
export interface Nouns {
  /** of our facts, else of our sentence; empty: ours names no thing */
  readonly stated: readonly string[];
  /** further nouns to which the noun head gives at least 0.05 (`nouns` of a fact) */
  readonly likely: readonly string[];
}

export interface Place {
  /** fractions of the frame; of overlapping regions of both frames the box around them */
  readonly box: Box;
  readonly role: Exclude<Happened, 'nothing'>;
  /** of the thing that each frame shows; both differ if one thing replaced another */
  readonly nouns: Readonly<Record<Side, Nouns>>;
}

export type Evidence = readonly Place[];

/** A fact about a thing, and the frames of its regions here. */
interface SidedFact {
  readonly fact: Fact;
  readonly sides: readonly Side[];
}

/**
 * @param change a confirmed one, of a kind of the scene
 * @param best the comparison that describes it best; undefined if it is no longer kept
 * @returns empty for tampering and for a change without regions
 */
export function evidenceOfChange(
  change: Pick<FoundChange, 'kind' | 'regions' | 'caption' | 'model_caption'>,
  best: Pick<Comparison, 'regions' | 'facts'> | undefined,
): Evidence {
  const { kind } = change;
  if (kind === 'tamper') return [];
  const regions = (best?.regions ?? []).filter((region) => isSameLocation([toChangeRegion(region)], change.regions));
  const caption = change.model_caption ?? change.caption;
  // The confirmed outlines; the comparison that describes the change may be an earlier frame, which its crops show.
  const shown = regions.length > 0 ? regions : change.regions;
  return placesOf(kind, shown, factsAbout(kind, regions, best?.facts), caption);
}

/**
 * @param finding of a pair without a camera
 * @returns the evidence of each thing, strongest first; empty unless the verdict is a change
 */
export function evidenceOfFinding({ verdict, regions, facts, statements, kind, caption }: Finding): Evidence {
  if (verdict !== 'change') return [];
  const things =
    statements ?? (facts ?? []).map((fact) => ({ kind: fact.kind.value, regions: fact.regions, text: caption }));
  const places = things.flatMap((thing) => {
    const about = regions.filter(({ id }) => thing.regions.includes(id));
    return placesOf(thing.kind, about, factsAbout(thing.kind, about, facts), thing.text);
  });
  const all = places.length > 0 || kind === 'none' || kind === 'multi' ? places : placesOf(kind, regions, [], caption);
  return all.slice(0, MOST_PLACES);
}

function placesOf(
  kind: StatementKind,
  regions: readonly Pick<Region, 'box'>[],
  facts: readonly SidedFact[],
  caption: string,
): Place[] {
  const role = ROLE_OF_KIND[kind];
  const nouns = { before: nounsOf('before', facts, caption), after: nounsOf('after', facts, caption) };
  return joined(regions.map(({ box }) => box))
    .slice(0, MOST_PLACES)
    .map((box) => ({ box, role, nouns }));
}

function nounsOf(side: Side, facts: readonly SidedFact[], caption: string): Nouns {
  const about = facts.filter(({ sides }) => sides.includes(side));
  const named = about.map(({ fact }) => fact.noun.value).filter((noun) => noun !== SOMETHING);
  // The parser reads "something" as an object, which is a class of its own.
  const mentions = caption.includes(SOMETHING) ? [] : readCaption(caption).mentions;
  const inCaption = mentions.filter(({ direction }) => SIDES_OF_DIRECTION[direction].includes(side));
  return {
    stated: facts.length > 0 ? named : inCaption.map(({ noun }) => noun),
    likely: about.flatMap(({ fact }) => (fact.nouns ?? []).map(({ value }) => value)),
  };
}

/** The facts about one thing that these regions show. */
const factsAbout = (
  kind: StatementKind,
  regions: readonly Pick<Region, 'id' | 'side'>[],
  facts: readonly Fact[] = [],
): SidedFact[] =>
  facts
    .filter((fact) => fact.kind.value === kind)
    .map((fact) => ({ fact, sides: regions.filter(({ id }) => fact.regions.includes(id)).map(({ side }) => side) }))
    .filter(({ sides }) => sides.length > 0);

/** The boxes, in which each that overlaps an earlier one is joined with it. */
function joined(boxes: readonly Box[]): Box[] {
  const places: Box[] = [];
  for (const box of boxes) {
    const at = places.findIndex((place) => sharedArea(place, box) > 0);
    if (at < 0) places.push(box);
    else places[at] = around(places[at] as Box, box);
  }
  return places;
}

function around(a: Box, b: Box): Box {
  const [x, y] = [Math.min(a.x, b.x), Math.min(a.y, b.y)];
  const right = Math.max(a.x + a.width, b.x + b.width);
  const bottom = Math.max(a.y + a.height, b.y + b.height);
  return { x, y, width: right - x, height: bottom - y };
}
