/**
 * Judge of the describer's answers: an answer counts only if nothing in it contradicts our own evidence. Pure.
 */
import { SIDES, type Side } from '../images.js';
import { type Direction, readCaption, statedDirections } from '../language/people/captions.js';
import { NOUN_FORMS, nounFit } from '../language/people/nouns.js';
import { type Answer, type Refusal, refusal } from './answer.js';
import type { Evidence, Nouns, Place } from './evidence.js';

/** Directions that a sentence must state, per role. */
const DIRECTIONS: Readonly<Record<Place['role'], readonly Direction[]>> = {
  appeared: ['appear'],
  disappeared: ['disappear'],
  moved: ['move'],
  replaced: ['disappear', 'appear'],
};
/** The frames that show the thing, per role. */
const SHOWN: Readonly<Record<Place['role'], readonly Side[]>> = {
  appeared: ['after'],
  disappeared: ['before'],
  moved: SIDES,
  replaced: SIDES,
};
/** A negated sentence can state the opposite of its verb. "no longer" is read as a departure. */
const NEGATION = /\b(?:not|never|cannot|none|nothing|neither|nor|nobody|hardly|no(?! longer\b))\b|n['’]t\b/i;

/**
 * Words of arrival and of departure in forms that the parser of captions leaves out ("has then left"). "left" is none
 * as a side, and of a thing that "was left".
 */
const WORDS: readonly (readonly [Direction, RegExp])[] = [
  [
    'disappear',
    /\b(?:gone|vanish\w*|disappear\w*|depart\w*|remov\w*|missing|leaves|leaving|exit\w*|fled|stolen|absent|(?<!\b(?:the|to|on|far|upper|lower|top|bottom|been|was|were|is|are) )left(?! (?:side|hand|edge|part|half|corner|lane|of)\b))\b/i,
  ],
  ['appear', /\b(?:appear\w*|arriv\w*|enter(?:s|ed|ing)?|emerg\w*|newly)\b/i],
];

/**
 * Every check that can refute the claims of an answer is called here, and nowhere else.
 * @param answer well-formed. @param evidence of the change, in the order in which the regions were sent
 * @returns null if nothing contradicts it
 */
export function refute(answer: Answer, evidence: Evidence): Refusal | null {
  for (const claim of answer.changes) {
    const place = evidence[claim.region - 1];
    if (place === undefined) {
      return refusal('unknown-region', `region ${claim.region} came, expected 1 to ${evidence.length}`);
    }
    if (claim.happened !== place.role) {
      return refusal('other-event', `region ${claim.region} has "${claim.happened}", our evidence "${place.role}"`);
    }
    if (!SHOWN[place.role].some((side) => fits(claim.noun, place.nouns[side]))) {
      return refusal('other-noun', `region ${claim.region} has "${claim.noun}", our evidence ${listed([place])}`);
    }
  }
  const claimed = answer.changes.map(({ region }) => evidence[region - 1] as Place);
  return refuteSentence(answer.sentence, claimed);
}

function refuteSentence(sentence: string, places: readonly Place[]): Refusal | null {
  const words = WORDS.filter(([, pattern]) => pattern.test(sentence)).map(([direction]) => direction);
  const directions = [...statedDirections(sentence), ...words];
  const { mentions } = readCaption(sentence);
  if (NEGATION.test(sentence) || mentions.length === 0) {
    return refusal('unclear-sentence', 'the sentence states no readable event of a known thing without a negation');
  }
  const roles = [...new Set(places.map(({ role }) => role))];
  const missing = roles.filter((role) => DIRECTIONS[role].some((direction) => !directions.includes(direction)));
  const extra = directions.filter((direction) => !roles.some((role) => DIRECTIONS[role].includes(direction)));
  if (missing.length > 0 || extra.length > 0) {
    return refusal('other-direction', `the sentence states ${spoken(directions)}, our evidence ${spoken(roles)}`);
  }
  for (const { noun, direction } of mentions) {
    const side = direction === 'disappear' ? 'before' : 'after';
    const possible = places.filter(({ role }) => DIRECTIONS[role].includes(direction));
    if (!possible.some((place) => fitsBest(noun, place, side))) {
      return refusal('other-noun', `the sentence names "${noun}", our evidence ${listed(possible)}`);
    }
  }
  return null;
}

/** Whether the noun is one of ours, or of the class of a stated one. */
function fits(noun: string, { stated, likely }: Nouns): boolean {
  const head = headNoun(noun);
  return likely.some((one) => nounFit(head, one) === 'same') || stated.some((one) => nounFit(head, one) !== 'none');
}

/** The noun of a thing that replaced another one of its class must not be that of the other. */
function fitsBest(noun: string, { role, nouns }: Place, side: Side): boolean {
  if (!fits(noun, nouns[side])) return false;
  if (role !== 'replaced') return true;
  const is = (one: string) => nounFit(noun, one) === 'same';
  return nouns[side].stated.some(is) || !nouns[side === 'before' ? 'after' : 'before'].stated.some(is);
}

/** The longest end of a phrase that is in the lexicon: "white delivery van" -> "delivery van". */
function headNoun(phrase: string): string {
  const words = phrase.toLowerCase().split(' ');
  const ends = words.map((_, i) => words.slice(i).join(' '));
  return ends.find((end) => NOUN_FORMS.has(end)) ?? phrase;
}

const spoken = (values: readonly string[]): string => (values.length === 0 ? 'none' : [...new Set(values)].join(', '));

const listed = (places: readonly Place[]): string => {
  const nouns = places.flatMap(({ nouns: of }) => SIDES.flatMap((side) => [...of[side].stated, ...of[side].likely]));
  return nouns.length === 0 ? 'names no thing' : spoken(nouns);
};
