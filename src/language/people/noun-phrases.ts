/** Parser of noun phrases: determiner, colours, noun and clothes ("the two men in dark jackets"). */
import { COLOUR_PHRASES, coloursIn } from './colours.js';
import { NOUN_FORMS } from './nouns.js';

const either = (words: Iterable<string>): string =>
  `(?:${[...words]
    .sort((a, b) => b.length - a.length)
    .map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('|')})`;
/** Alternatives of a regular expression. */
export const COLOUR = either(COLOUR_PHRASES);
export const NOUN = either(NOUN_FORMS.keys());
const DETERMINER =
  '(?:the|a|an|another|some|several|both|most|many|few|two|three|four|five|six|\\d+|one|no|other|all|more|new)';
export const GARMENT =
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
const PREPOSITION = new RegExp(
  `\\b(?:${[
    'by|near|at|behind|beside|next to|in front of|in|on|onto|into|along|past|between|under|around|against|across',
    'towards?|to|from|out of|off|over|inside|outside|of|above|below|opposite|through|down|up|than|like|with',
    'left|leaving|entered|entering|passed|pushing|riding|carrying|holding|wearing',
  ].join('|')})$`,
);

export interface NounPhrase {
  readonly noun: string;
  readonly plural: boolean;
  readonly definite: boolean;
  readonly negated: boolean;
  readonly colours: readonly string[];
  readonly start: number;
}

/** Noun phrases that are not part of a place ("by the table") or of another phrase ("with a bicycle"). */
export function nounPhrases(clause: string): NounPhrase[] {
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
