/**
 * Parser of captions: which things the sentence mentions, and for each its direction of change, colours and places. A
 * sentence is cut into clauses. In each the strongest cue gives the direction, and the first noun phrase that is not
 * part of a place gives the thing. Words outside the tables are skipped.
 */
import { COLOUR_PHRASES, canonicalColour } from './colours.js';
import { NOUN_FORMS } from './nouns.js';
import { readPlaces, type StatedPlace } from './places.js';

/** alter: the thing stayed and became another colour or material (CLEVR) */
export type Direction = 'appear' | 'disappear' | 'move' | 'alter';

/** A thing that the sentence names, and what it states about the thing. */
export interface Mention {
  readonly noun: string;
  readonly plural: boolean;
  readonly direction: Direction;
  /** canonical names in the order of the sentence; of the thing before it changed */
  readonly colours: readonly string[];
  readonly places: readonly StatedPlace[];
  /** alter: the new colour or material */
  readonly becomes: string | null;
}

export interface CaptionFacts {
  /** null: the sentence states neither a change nor that nothing changed */
  readonly verdict: 'none' | 'change' | null;
  /** in the order of the sentence */
  readonly mentions: readonly Mention[];
  /** the sentence states that one thing stands where another was */
  readonly replaces: boolean;
}

const either = (words: Iterable<string>): string =>
  `(?:${[...words]
    .sort((a, b) => b.length - a.length)
    .map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('|')})`;
const COLOUR = either(COLOUR_PHRASES);
const NOUN = either(NOUN_FORMS.keys());
const MATERIAL = '(?:metallic|metal|shiny|rubber|matte)';
const DETERMINER =
  '(?:the|a|an|another|some|several|both|most|many|few|two|three|four|five|six|\\d+|one|no|other|all|more|new)';
const GARMENT =
  '(?:clothes|clothing|shirt|t-shirt|jacket|coat|top|sweater|cardigan|hoodie|dress|suit|vest|trousers|jeans|overalls)';

/** groups: determiners; colours and other adjectives; noun; hair and clothes */
const NOUN_PHRASE = new RegExp(
  [
    `((?:${DETERMINER} )*)(?:(?:group|couple|pair|number|row|lot) of )?((?:[\\w-]+ ){0,4}?)\\b(${NOUN})\\b`,
    `((?: with (?:\\w+ )+?hair)?(?: (?:wearing|in|with) (?:an? |the )?(?:\\w+ )?${COLOUR}(?: (?:and|or) ${COLOUR})?`,
    `(?: ${GARMENT})?(?! (?:hair|${NOUN})\\b))?)`,
  ].join(''),
  'g',
);
const COLOURS = new RegExp(`\\b${COLOUR}\\b`, 'g');
const BECOMES = new RegExp(
  `\\b(?:changed to|turned(?: into)?|became|has become|is now)(?: an?)? (${COLOUR}|${MATERIAL})\\b(?! ${NOUN})`,
);
const PREPOSITION = new RegExp(
  `\\b(?:${[
    'by|near|at|behind|beside|next to|in front of|in|on|onto|into|along|past|between|under|around|against|across',
    'towards?|to|from|out of|off|over|inside|outside|of|above|below|opposite|through|down|up|than|like|with',
    'left|leaving|entered|entering|passed|pushing|riding|carrying|holding|wearing',
  ].join('|')})$`,
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
const NO_MORE = /\bno (?!longer\b)(?:[\w-]+ )*?.*\b(?:any ?more|any longer|now)\b/;

export function readCaption(caption: string): CaptionFacts {
  const mentions: Mention[] = [];
  let replaces = false;
  for (const clause of clausesOf(caption)) {
    const swap = readReplacement(clause);
    replaces ||= swap.length > 1 || /\b(?:instead|replaced|(?:her|his|its|their) place)\b/.test(clause);
    mentions.push(...(swap.length > 0 ? swap : readClause(clause)));
  }
  const text = caption.toLowerCase();
  const verdict = mentions.length > 0 ? 'change' : NOTHING.test(text) ? 'none' : null;
  return { verdict, mentions, replaces };
}

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

interface NounPhrase {
  readonly noun: string;
  readonly plural: boolean;
  readonly definite: boolean;
  readonly negated: boolean;
  readonly colours: readonly string[];
  readonly start: number;
}

/** Noun phrases that are not part of a place ("by the table") or of another phrase ("with a bicycle"). */
function nounPhrases(clause: string): NounPhrase[] {
  const phrases: NounPhrase[] = [];
  for (const match of clause.matchAll(NOUN_PHRASE)) {
    const [, determiners = '', adjectives = '', form = '', worn = ''] = match;
    // The lazy run of adjectives may begin too early: cut it at the last word that cannot be inside a noun phrase.
    const lead = `${determiners}${adjectives}`;
    const cut = phraseStart(lead);
    const inside = lead.slice(cut);
    const preceding = clause.slice(0, match.index + cut).trimEnd();
    if (PREPOSITION.test(preceding)) continue;
    const { noun, plural } = NOUN_FORMS.get(form) ?? { noun: form, plural: false };
    const rest = clause.slice(match.index + match[0].length);
    const rider = noun === 'person' && /^(?: \w+ing)? (?:with|on|pushing) an? (?:bicycle|bike)\b/.test(rest);
    phrases.push({
      noun: rider ? 'cyclist' : noun,
      plural,
      definite: /\b(?:the|both|its|his|her|their)\b/.test(inside),
      negated: /\bno\b/.test(inside),
      colours: coloursIn(`${inside} ${worn.replace(/with .*hair/, '')}`),
      start: match.index + cut,
    });
  }
  return phrases;
}

const INSIDE = new RegExp(`^(?:${DETERMINER}|(?:[\\w-]+))$`);
const BREAK = new RegExp(
  `^(?:${[
    'is|are|was|were|has|have|had|be|been|that|who|which|there|now|by|near|at|behind|beside|to|in|on|onto|into|along',
    'past|between|under|around|against|across|towards?|from|of|off|over|inside|outside|with|and|or|appeared|arrived',
    'gone|left(?= the)|moved|driving|walking|standing|parked|for|as|than|instead|entered|front|place|replaced|where',
    'through|down|up|like|also|including',
  ].join('|')})$`,
);

/** Index in `lead` at which the noun phrase begins: after the last word that cannot be inside one. */
function phraseStart(lead: string): number {
  let start = 0;
  for (const word of lead.matchAll(/\S+/g)) {
    if (BREAK.test(word[0]) || !INSIDE.test(word[0])) start = word.index + word[0].length + 1;
  }
  return Math.min(start, lead.length);
}

const coloursIn = (text: string): string[] => [
  ...new Set([...text.matchAll(COLOURS)].flatMap(([word]) => canonicalColour(word) ?? [])),
];

const mention = (
  np: NounPhrase,
  direction: Direction,
  places: readonly StatedPlace[],
  becomes: string | null = null,
): Mention => ({
  noun: np.noun,
  plural: np.plural,
  direction,
  colours: np.colours,
  places,
  becomes,
});

/**
 * The places of each phrase: those between it and the next phrase. A phrase without a place takes those after the
 * last phrase ("a van and a car have appeared on the left") or before the first.
 */
function placesOf(clause: string, phrases: readonly NounPhrase[]): (readonly StatedPlace[])[] {
  const own = phrases.map((np, i) => readPlaces(clause.slice(np.start, phrases[i + 1]?.start)));
  const shared = own.at(-1)?.length ? own.at(-1) : readPlaces(clause.slice(0, phrases[0]?.start));
  return own.map((places) => (places.length > 0 ? places : (shared ?? [])));
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

function readClause(clause: string): Mention[] {
  const cue = CUES.find(({ pattern }) => pattern.test(clause));
  const phrases = nounPhrases(clause);
  if (cue === undefined || phrases.length === 0) return [];
  const places = placesOf(clause, phrases);
  const becomes = cue.direction === 'alter' ? (BECOMES.exec(clause)?.[1] ?? null) : null;
  return phrases.flatMap((np, i) => {
    if (np.negated)
      return NO_MORE.test(clause) || /\bno longer\b/.test(clause)
        ? [mention(np, 'disappear', places[i] ?? [])]
        : [];
    const known = np.definite;
    const direction =
      cue.direction === 'motion' || cue.direction === 'existence'
        ? known
          ? 'move'
          : 'appear'
        : cue.direction;
    return [mention(np, direction, places[i] ?? [], becomes)];
  });
}
