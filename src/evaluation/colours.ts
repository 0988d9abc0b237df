/** Names of colours, and which of them say the same of a real thing seen by a camera. */

/** said word -> canonical name */
const NAMES: Readonly<Record<string, string>> = {
  black: 'black',
  white: 'white',
  grey: 'grey',
  gray: 'grey',
  silver: 'silver',
  red: 'red',
  blue: 'blue',
  green: 'green',
  yellow: 'yellow',
  orange: 'orange',
  brown: 'brown',
  beige: 'beige',
  tan: 'beige',
  cream: 'beige',
  gold: 'beige',
  golden: 'beige',
  pink: 'pink',
  purple: 'purple',
  violet: 'purple',
  cyan: 'cyan',
  turquoise: 'cyan',
  teal: 'cyan',
  navy: 'dark blue',
  maroon: 'dark red',
  burgundy: 'dark red',
  dark: 'dark',
  light: 'light',
  pale: 'light',
  'light-coloured': 'light',
  'light-colored': 'light',
  'dark-coloured': 'dark',
  'dark-colored': 'dark',
};
const SHADES = ['dark', 'light', 'pale', 'bright'];

/** Phrases for a regular expression, longest first; 'light blue', 'dark grey' and so on included. */
export const COLOUR_PHRASES: readonly string[] = [
  ...SHADES.flatMap((shade) =>
    Object.keys(NAMES)
      .filter((name) => !/dark|light|pale/.test(name))
      .map((name) => `${shade} ${name}`),
  ),
  ...Object.keys(NAMES),
].sort((a, b) => b.length - a.length);

/** 'pale gray' -> 'light grey', 'maroon' -> 'dark red', 'bright red' -> 'red'; null for a word that names no colour. */
export function canonicalColour(phrase: string): string | null {
  const words = phrase.trim().toLowerCase().split(/\s+/);
  const base = NAMES[words.at(-1) ?? ''];
  if (base === undefined) return null;
  const shade = words.length > 1 ? words[0] : undefined;
  if (shade === undefined || shade === 'bright') return base;
  return `${shade === 'dark' ? 'dark' : 'light'} ${base.replace(/^(dark|light) /, '')}`;
}

// Pairs that people use of one and the same thing: under a camera silver is grey, and what is dark is black or a dark hue.
const ALIKE: readonly (readonly [string, string])[] = [
  ['silver', 'grey'],
  ['silver', 'light grey'],
  ['grey', 'light grey'],
  ['grey', 'dark grey'],
  ['black', 'dark'],
  ['black', 'dark grey'],
  ['black', 'dark blue'],
  ['dark', 'brown'],
  ['white', 'light'],
  ['silver', 'light'],
  ['beige', 'light'],
  ['beige', 'brown'],
];

/** Whether a said colour is true of a thing of the labelled colour. Symmetric, not transitive. */
export function sameColour(said: string, truth: string): boolean {
  const a = canonicalColour(said);
  return truth.split(/ and |,|\//).some((part) => {
    const b = canonicalColour(part);
    if (a === null || b === null) return false;
    if (a === b || ALIKE.some(([x, y]) => (a === x && b === y) || (a === y && b === x))) return true;
    // A shade of a hue is that hue (light blue is blue); bare 'dark' and 'light' are true of every hue so shaded.
    return strip(a) === b || strip(b) === a || shadeOf(a) === b || shadeOf(b) === a;
  });
}

const strip = (colour: string): string => colour.replace(/^(?:dark|light) /, '');
const shadeOf = (colour: string): string | null => /^(dark|light) /.exec(colour)?.[1] ?? null;
