/**
 * How probable the sentences of a camera's severity rules are of a change: by the facts of the things at its location,
 * over all frames that name them (ADR 25). Pure.
 */
import { sameColour } from '../../language/people/colours.js';
import { nounFit } from '../../language/people/nouns.js';
import { type RuleSentence, type RuleThing, readRuleSentence } from '../../language/people/rule-sentence.js';
import type { ChangeRegion, FoundChange } from '../../schemas/change.js';
import type { Fact, Finding } from '../../schemas/comparison.js';
import { OBJECT_KIND_OF, type ObjectKind } from '../../schemas/kinds.js';
import { WHEN_PROBABILITY } from '../settings/severity-rule.js';
import { thingsOf } from './observation.js';
import type { NamedSentence } from './rules.js';
import type { JudgedSentence, Location, ObservedThing } from './state.js';

/** The kind that a single frame shows of an object that is left or removed later. */
const KIND_IN_A_FRAME: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(OBJECT_KIND_OF).map(([kind, object]) => [object, kind]),
);

const isAboutObject = ({ kind }: RuleSentence): boolean => kind !== null && Object.hasOwn(KIND_IN_A_FRAME, kind);

/** Probability that a sentence is true of a thing, 0..1; its zone is not regarded. */
export function probabilityOf({ things, kind }: RuleSentence, thing: ObservedThing): number {
  const ofKind = kind === null ? 1 : probabilityOfKind(KIND_IN_A_FRAME[kind] ?? kind, thing);
  return ofKind * Math.max(...things.map((one) => probabilityOfThing(one, thing)));
}

/** A thing that replaces another one has appeared, and the replaced one has disappeared. */
function probabilityOfKind(kind: string, { kind: shown, regions }: ObservedThing): number {
  const side = regions[0]?.side;
  const parts = shown.value === 'replace' ? ['replace', side === 'before' ? 'disappear' : 'appear'] : [shown.value];
  return parts.includes(kind) ? shown.probability : 0;
}

/** The noun itself or a narrower one; a colour that people would call so. Noun and colour count as independent. */
function probabilityOfThing({ noun, colour }: RuleThing, { nouns, colours }: ObservedThing): number {
  const named = noun === null ? 1 : sumOf(nouns, (value) => /^(?:same|wider)$/.test(nounFit(noun, value)));
  return named * (colour === null ? 1 : sumOf(colours, (value) => sameColour(colour, value)));
}

const sumOf = (all: NonNullable<Fact['nouns']>, fits: (value: string) => boolean): number =>
  Math.min(
    1,
    all.reduce((sum, { value, probability }) => (fits(value) ? sum + probability : sum), 0),
  );

/**
 * @returns the probability of a sentence by the facts of a comparison, 0..1; null: the reader does not know all of its
 *   words, the comparison has no facts, or only later frames show it ("a bag has been left")
 */
export function probabilityByFacts(
  sentence: string,
  finding: Pick<Partial<Finding>, 'verdict' | 'facts' | 'regions'>,
): number | null {
  const read = readRuleSentence(sentence, []);
  if ('fault' in read || finding.verdict === 'tamper' || isAboutObject(read.said)) return null;
  if (finding.verdict !== 'change') return 0;
  const things = thingsOf(finding);
  return things.length === 0 ? null : Math.max(...things.map((thing) => probabilityOf(read.said, thing)));
}

/**
 * The sums after a frame.
 * @param known sums before it
 * @param locations of the frame that belong to the track alone
 * @returns the same if the frame names nothing there; sentences that are no longer in a rule are left out
 */
export function judgeLocations(
  known: readonly JudgedSentence[],
  locations: readonly Location[],
  things: readonly ObservedThing[],
  sentences: readonly NamedSentence[],
): readonly JudgedSentence[] {
  const matching = things.filter(({ regions }) =>
    locations.some((location) => regions.length > 0 && regions.every((one) => location.regions.includes(one))),
  );
  return sentences.flatMap(({ text, said }): JudgedSentence[] => {
    const before = known.find((one) => one.when === text);
    if (matching.length === 0) return before === undefined ? [] : [before];
    const p = Math.max(...matching.map((thing) => probabilityOf(said, thing)));
    return [{ when: text, frames: (before?.frames ?? 0) + 1, sum: (before?.sum ?? 0) + p }];
  });
}

/** The mean of each sentence as a change states it; undefined without one, so that the change has no such field. */
export const meansOf = (judged: readonly JudgedSentence[] = []): FoundChange['judged'] =>
  judged.length === 0 ? undefined : judged.map(({ when, sum, frames }) => ({ when, p: sum / frames }));

/**
 * Whether the sentence of a rule counts as true of a change. A sentence that no frame could judge does not.
 * @param change `object` if it counts as left or removed
 */
export function isTrue(
  { when, when_probability: least = WHEN_PROBABILITY }: { readonly when: string; readonly when_probability?: number },
  change: {
    readonly regions: readonly ChangeRegion[];
    readonly judged?: FoundChange['judged'] | undefined;
    readonly object?: ObjectKind | undefined;
  },
  sentences: readonly NamedSentence[],
): boolean {
  const said = sentences.find(({ text }) => text === when)?.said;
  const p = change.judged?.find((one) => one.when === when)?.p;
  if (said === undefined || p === undefined || p < least) return false;
  const { zones } = said;
  if (isAboutObject(said) && said.kind !== change.object) return false;
  return zones === null || change.regions.some(({ zone }) => zone !== null && zones.includes(zone));
}
