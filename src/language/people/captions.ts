/**
 * Parser of captions: which things the sentence mentions, and for each its direction of change, colours and places. A
 * sentence is cut into clauses. In each the strongest cue gives the direction, and the first noun phrase that is not
 * part of a place gives the thing. Words outside the tables are skipped.
 */
import { canonicalColour } from './colours.js';
import { COLOUR, GARMENT, NOUN, type NounPhrase, nounPhrases } from './noun-phrases.js';
import { readPlaces, type StatedPlace } from './places.js';

/** alter: the thing stayed and became another colour or material (CLEVR) */
export type Direction = 'appear' | 'disappear' | 'move' | 'alter';

/** A thing that the sentence names, and what it states about the thing. */
export interface Mention {
  readonly noun: string;
  readonly plural: boolean;
  readonly direction: Direction;
  /** the sentence holds, too, if a thing moved, or if another one came */
  readonly open: boolean;
  /** canonical names in the order of the sentence; of the thing before it changed */
  readonly colours: readonly string[];
  /** of several things, each colour of one or some of them: "two people have left, one in red and one in black" */
  readonly eachColour: readonly string[];
  readonly places: readonly StatedPlace[];
  /** alter: the new colour or material */
  readonly becomes: string | null;
}

export interface CaptionFacts {
  /** null: the sentence states neither a change nor that nothing changed */
  readonly verdict: 'none' | 'change' | null;
  /** in the order of the sentence */
  readonly mentions: readonly Mention[];
  /** number of mentions per clause that has any, in the order of the sentence */
  readonly clauses: readonly number[];
  /** the sentence states that one thing stands where another was */
  readonly replaces: boolean;
}

const MATERIAL = '(?:metallic|metal|shiny|rubber|matte)';
const BECOMES = new RegExp(
  `\\b(?:changed to|turned(?: into)?|became|has become|is now)(?: an?)? (${COLOUR}|${MATERIAL})\\b(?! ${NOUN})`,
);
/** Matches any of the phrases, which are pieces of a regular expression, as whole words. */
const anyOf = (...phrases: string[]): RegExp => new RegExp(`\\b(?:${phrases.join('|')})\\b`);

const NOTHING = anyOf(
  'nothing',
  'no one|nobody',
  'no (?:\\w+ )?(?:changes?|difference)',
  `no (?:\\w+ )?${NOUN} (?:has|have|is|are|was|or)`,
  '(?:is|are|seems?|looks?|remains?|stays?) (?:\\w+ )?(?:the )?(?:same|identical|unchanged)',
  'same (?:scene|as before)',
  '(?:everything|all|it) (?:else )?(?:is|was|looks|stays) as (?:before|it was)',
  'unchanged|identical',
  'only the (?:camera|light|lighting|shadows?|weather|leaves|trees?|picture)',
  'only the (?:brightness|colours?|text|compression|noise|focus)',
);

interface Cue {
  readonly pattern: RegExp;
  readonly direction: Direction | 'motion' | 'existence';
}
const OUT_OF_VIEW = 'out of (?:the )?(?:view|picture|frame|sight|scene)';
/**
 * The first match counts. `motion` is a verb of motion: a move of a known thing ("the car has driven up"), an
 * appearance of a new one ("a car has driven up"). `existence` is a statement of position: a move of a known thing,
 * an appearance of a new one.
 */
const CUES: readonly Cue[] = [
  { direction: 'alter', pattern: BECOMES },
  {
    direction: 'disappear',
    pattern: anyOf(
      'no longer',
      '(?:gone|missing|vanished|disappeared|departed|removed)\\b(?! (?:to|up|down|further|towards)\\b)',
      '(?:has|have|had|just|also|already) left',
      // "left the road", but not "on the left the lane ..."
      'left (?:the (?!lane|edge|side|row|sidewalk|hand|part|half|corner|end)\\w+|(?:her|his|its|their) \\w+)',
      "(?:is|are|was|were) not|isn't|aren't|(?:cannot|can't) be seen",
      `(?:driven|drove|drives|walked|moved|pulled|cycled|ridden|rode|gone) (?:off|away(?! from)|${OUT_OF_VIEW})`,
      `taken away|${OUT_OF_VIEW}`,
    ),
  },
  {
    direction: 'appear',
    pattern: anyOf(
      'appeared|appears|arrived|entered|newly|showed up|shown up',
      '(?:come|came) into|into view|into the (?:picture|frame|scene)',
      '(?:been|was|were) (?:placed|added|put|left|parked)',
    ),
  },
  {
    direction: 'move',
    pattern: anyOf(
      'moved|moves|shifted|stepped|backed|rolled|swapped places|come closer|come nearer|turned (?:round|around)',
      'changed (?:(?:its|their|his|her|the) )?(?:location|position|places?|lanes)',
      'in a different (?:location|place|position|spot)',
      '(?:pulled|pulling|backing|turned|driven) out of (?:its|the|a) (?:parking )?(?:space|spot|bay)',
    ),
  },
  {
    direction: 'motion',
    pattern: anyOf(
      '(?:is|are) (?:now )?(?:\\w+ )?(?:further|farther|closer|nearer)',
      'driven|drove|walked|cycled|ridden|run|went|pulled|come|gone|turned',
      'driving|walking|cycling|riding|running|going|coming|moving|pulling|turning',
      'heading|leaving|approaching|entering|crossing',
    ),
  },
  {
    direction: 'existence',
    pattern: anyOf(
      'there (?:is|are)',
      '(?:is|are|can) (?:now|also|\\w+ing|be seen|parked|visible)',
      '(?:is|are) (?:in|on|at|by|near|there)',
      'stands?|sits?|parked|standing|sitting|visible|now',
    ),
  },
];
const REPLACED_BY =
  /\b(?:has|have|had|was|were|is) (?:now |been |being )*(?:replaced|swapped|exchanged)(?: (?:by|with|for))\b/;
const REPLACES = anyOf(
  '(?:has|have) replaced',
  'replaces',
  '(?:has |have )?(?:taken|took|takes) (?:the|her|his|its|their) place(?: of)?',
  'instead of|in place of|where',
);
/** "The person has moved or another is there now", "a person is now on the left", "the car is no longer there". */
const OPEN = anyOf('or (?:another|others) (?:is|are) there now', '(?:is|are) now (?:in|on|at|by)', 'no longer there');
const NO_MORE = /\bno (?!longer\b)(?:[\w-]+ )*?.*\b(?:any ?more|any longer|now)\b/;

export function readCaption(caption: string): CaptionFacts {
  const mentions: Mention[] = [];
  const clauses: number[] = [];
  let replaces = false;
  for (const clause of clausesOf(caption)) {
    const swap = readReplacement(clause);
    replaces ||= swap.length > 1 || /\b(?:instead|replaced|(?:her|his|its|their) place)\b/.test(clause);
    const read = swap.length > 0 ? swap : readClause(clause);
    mentions.push(...read);
    if (read.length > 0) clauses.push(read.length);
  }
  const text = caption.toLowerCase();
  const verdict = mentions.length > 0 ? 'change' : NOTHING.test(text) ? 'none' : null;
  return { verdict, mentions, clauses, replaces };
}

/** "one in red", "two white" after a clause about several things: the colour of some of them. */
const ONE_OF_THEM = new RegExp(`^(?:one|two|three|four|several) (?:in )?(${COLOUR})(?: ${GARMENT})?$`);
const SOME_OF_THEM = new RegExp(ONE_OF_THEM.source.replace('^', ' and ').replace('$', '(?= and |$)'), 'g');

const hasCue = (text: string): boolean =>
  REPLACED_BY.test(text) || REPLACES.test(text) || CUES.some(({ pattern }) => pattern.test(text));

/**
 * Clauses with one statement each. A piece without a cue of its own belongs to the next ("a van and a car are gone").
 */
function clausesOf(caption: string): string[] {
  const clauses: string[] = [];
  for (const sentence of caption
    .toLowerCase()
    .replaceAll('’', "'")
    .split(/[.;:!?]+(?:\s|$)/)) {
    let pending = '';
    for (const piece of sentence.split(/,? (?:and|but|while|whereas) |, /)) {
      const text = piece.trim().replaceAll(',', ' ').replace(/\s+/g, ' ');
      if (text === '') continue;
      if (pending === '' && clauses.length > 0 && ONE_OF_THEM.test(text)) {
        clauses.push(`${clauses.pop()} and ${text}`);
        continue;
      }
      pending = pending === '' ? text : `${pending} and ${text}`;
      if (hasCue(text)) {
        clauses.push(pending);
        pending = '';
      }
    }
    if (pending === '') continue;
    const last = clauses.pop();
    clauses.push(last === undefined ? pending : `${last} and ${pending}`);
  }
  return clauses;
}

const mention = (
  np: NounPhrase,
  direction: Direction,
  places: readonly StatedPlace[],
  becomes: string | null = null,
  eachColour: readonly string[] = [],
  open = false,
): Mention => ({
  noun: np.noun,
  plural: np.plural,
  direction,
  open,
  colours: np.colours,
  eachColour: np.plural ? eachColour : [],
  places,
  becomes,
});

/**
 * The places of each phrase: those between it and the next phrase. A phrase without a place takes those after the
 * last phrase ("a van and a car have appeared on the left") or before the first.
 */
function placesOf(clause: string, phrases: readonly NounPhrase[]): (readonly StatedPlace[])[] {
  const read = phrases.map((np, i) => readPlaces(clause.slice(np.start, phrases[i + 1]?.start)));
  const shared = read.at(-1)?.length ? read.at(-1) : readPlaces(clause.slice(0, phrases[0]?.start));
  return read.map((places) => (places.length > 0 ? places : (shared ?? [])));
}

/**
 * "A has been replaced by B", "B has taken the place of A", "there is B instead of A": A disappeared and B appeared.
 */
function readReplacement(clause: string): Mention[] {
  const passive = REPLACED_BY.exec(clause);
  const match = passive ?? REPLACES.exec(clause);
  if (match === null) return [];
  const first = nounPhrases(clause.slice(0, match.index));
  const second = nounPhrases(clause.slice(match.index + match[0].length));
  const [left, right]: [Direction, Direction] = passive ? ['disappear', 'appear'] : ['appear', 'disappear'];
  // Both things are at the same place.
  const places = readPlaces(clause);
  return [...first.map((np) => mention(np, left, places)), ...second.map((np) => mention(np, right, places))];
}

function readClause(text: string): Mention[] {
  const eachColour = [...text.matchAll(SOME_OF_THEM)].map(([, colour]) => canonicalColour(colour as string) as string);
  const clause = text.replace(SOME_OF_THEM, '');
  const cue = CUES.find(({ pattern }) => pattern.test(clause));
  const phrases = nounPhrases(clause);
  if (cue === undefined || phrases.length === 0) return [];
  const places = placesOf(clause, phrases);
  const becomes = cue.direction === 'alter' ? (BECOMES.exec(clause)?.[1] ?? null) : null;
  return phrases.flatMap((np, i) => {
    if (np.negated)
      return NO_MORE.test(clause) || /\bno longer\b/.test(clause) ? [mention(np, 'disappear', places[i] ?? [])] : [];
    const known = np.definite;
    const direction =
      cue.direction === 'motion' || cue.direction === 'existence' ? (known ? 'move' : 'appear') : cue.direction;
    return [mention(np, direction, places[i] ?? [], becomes, eachColour, OPEN.test(clause))];
  });
}
