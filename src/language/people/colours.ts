/** Colour names, and which of them are true of the same thing under a camera. */

const BASIC = 'black white grey silver red blue green yellow orange brown beige pink purple cyan dark light'.split(' ');
/** other word -> canonical name */
const SYNONYMS: Readonly<Record<string, string>> = {
  gray: 'grey',
  tan: 'beige',
  cream: 'beige',
  gold: 'beige',
  golden: 'beige',
  violet: 'purple',
  turquoise: 'cyan',
  teal: 'cyan',
  olive: 'green',
  navy: 'dark blue',
  maroon: 'dark red',
  burgundy: 'dark red',
  pale: 'light',
  'light-coloured': 'light',
  'light-colored': 'light',
  'dark-coloured': 'dark',
  'dark-colored': 'dark',
};
const NAMES: ReadonlyMap<string, string> = new Map([
  ...BASIC.map((name) => [name, name] as const),
  ...Object.entries(SYNONYMS),
]);
const SHADES = ['dark', 'light', 'pale', 'bright'];

/** Phrases for a regular expression, longest first, with shades: 'light blue', 'dark grey'. */
export const COLOUR_PHRASES: readonly string[] = [
  ...SHADES.flatMap((shade) =>
    [...NAMES.keys()].filter((name) => !/dark|light|pale/.test(name)).map((name) => `${shade} ${name}`),
  ),
  ...NAMES.keys(),
].sort((a, b) => b.length - a.length);

/** 'pale gray' -> 'light grey', 'maroon' -> 'dark red', 'bright red' -> 'red'; null for a word that names no colour. */
export function canonicalColour(phrase: string): string | null {
  const words = phrase.trim().toLowerCase().split(/\s+/);
  const base = NAMES.get(words.at(-1) ?? '');
  if (base === undefined) return null;
  const shade = words.length > 1 ? words[0] : undefined;
  if (shade === undefined || shade === 'bright') return base;
  return `${shade === 'dark' ? 'dark' : 'light'} ${base.replace(/^(dark|light) /, '')}`;
}

const COLOURS = new RegExp(`\\b(?:${COLOUR_PHRASES.join('|')})\\b`, 'g');

/** The colours that a text names, each once: 'dark and red clothes' -> dark, red; 'silver-grey' -> silver, grey. */
export const coloursIn = (text: string): string[] => [
  ...new Set([...text.toLowerCase().matchAll(COLOURS)].flatMap(([phrase]) => canonicalColour(phrase) ?? [])),
];

/**
 * Pairs that people use of the same thing: under a camera silver is grey, and a dark thing is black or of a dark hue.
 */
const ALIKE: ReadonlySet<string> = new Set([
  ...['silver/grey', 'silver/light grey', 'grey/light grey', 'grey/dark grey', 'black/dark', 'black/dark grey'],
  ...['black/dark blue', 'dark/brown', 'white/light', 'silver/light', 'beige/light', 'beige/brown'],
]);

/** Whether a stated colour is true of a thing with the labelled colours. Symmetric, not transitive. */
export function sameColour(stated: string, labelled: string): boolean {
  const a = canonicalColour(stated);
  if (a === null) return false;
  return coloursIn(labelled).some((b) => {
    if (a === b || ALIKE.has(`${a}/${b}`) || ALIKE.has(`${b}/${a}`)) return true;
    // A shade of a hue is that hue (light blue is blue); bare 'dark' and 'light' are true of every hue of that shade.
    return hueOf(a) === b || hueOf(b) === a || shadeOf(a) === b || shadeOf(b) === a;
  });
}

const hueOf = (colour: string): string => colour.replace(/^(?:dark|light) /, '');
const shadeOf = (colour: string): string | null => /^(dark|light) /.exec(colour)?.[1] ?? null;
