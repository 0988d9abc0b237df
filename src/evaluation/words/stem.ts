/**
 * The English stemmer of Snowball (Porter 2, https://snowballstem.org/algorithms/english/stemmer.html), which METEOR uses to
 * match "cars" with "car". Written from the published description; words are lower case.
 */

const VOWEL = /[aeiouy]/;
const DOUBLE = /(?:bb|dd|ff|gg|mm|nn|pp|rr|tt)$/;
const WHOLE: Readonly<Record<string, string>> = {
  skis: 'ski',
  skies: 'sky',
  dying: 'die',
  lying: 'lie',
  tying: 'tie',
  idly: 'idl',
  gently: 'gentl',
  ugly: 'ugli',
  early: 'earli',
  only: 'onli',
  singly: 'singl',
  sky: 'sky',
  news: 'news',
  howe: 'howe',
  atlas: 'atlas',
  cosmos: 'cosmos',
  bias: 'bias',
  andes: 'andes',
};
const AFTER_STEP_1A = new Set([
  'inning',
  'outing',
  'canning',
  'herring',
  'earring',
  'proceed',
  'exceed',
  'succeed',
]);

export function stem(word: string): string {
  const whole = WHOLE[word];
  if (whole !== undefined) return whole;
  if (word.length <= 2) return word;
  // Y is a consonant here: at the start and after a vowel.
  let w = word
    .replace(/^'/, '')
    .replace(/^y/, 'Y')
    .replace(/([aeiouy])y/g, '$1Y');
  const r1 = firstRegion(w);
  const r2 = r1 + regionAfter(w.slice(r1));
  w = step1a(w.replace(/'s?'?$/, ''));
  if (AFTER_STEP_1A.has(w)) return w;
  w = step1b(w, r1).replace(/(.[^aeiouy])[yY]$/, '$1i');
  w = replaceSuffix(w, STEP_2, r1);
  w = replaceSuffix(w, STEP_3, r1, r2);
  w = step4(w, r2);
  return step5(w, r1, r2).toLowerCase();
}

/** Index after the first consonant that follows a vowel. */
const regionAfter = (w: string): number => {
  const match = /[aeiouy][^aeiouy]/.exec(w);
  return match === null ? w.length : match.index + 2;
};
const firstRegion = (w: string): number => /^(?:gener|commun|arsen)/.exec(w)?.[0].length ?? regionAfter(w);

function step1a(w: string): string {
  if (w.endsWith('sses')) return w.slice(0, -2);
  if (/ie[ds]$/.test(w)) return w.length > 4 ? w.slice(0, -2) : w.slice(0, -1);
  if (/(?:us|ss)$/.test(w) || !w.endsWith('s')) return w;
  return VOWEL.test(w.slice(0, -2)) ? w.slice(0, -1) : w;
}

function step1b(w: string, r1: number): string {
  const eed = /eed(?:ly)?$/.exec(w);
  if (eed !== null) return eed.index >= r1 ? `${w.slice(0, eed.index)}ee` : w;
  const past = /(?:ed|edly|ing|ingly)$/.exec(w);
  if (past === null || !VOWEL.test(w.slice(0, past.index))) return w;
  const rest = w.slice(0, past.index);
  if (/(?:at|bl|iz)$/.test(rest)) return `${rest}e`;
  if (DOUBLE.test(rest)) return rest.slice(0, -1);
  return isShort(rest, r1) ? `${rest}e` : rest;
}

const endsShortSyllable = (w: string): boolean =>
  /^[aeiouy][^aeiouy]$/.test(w) || /[^aeiouy][aeiouy][^aeiouywxY]$/.test(w);
const isShort = (w: string, r1: number): boolean => r1 >= w.length && endsShortSyllable(w);

type Rules = readonly (readonly [suffix: string, by: string])[];
const STEP_2: Rules = [
  ['ization', 'ize'],
  ['ational', 'ate'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['iveness', 'ive'],
  ['tional', 'tion'],
  ['biliti', 'ble'],
  ['lessli', 'less'],
  ['entli', 'ent'],
  ['ation', 'ate'],
  ['alism', 'al'],
  ['aliti', 'al'],
  ['ousli', 'ous'],
  ['iviti', 'ive'],
  ['fulli', 'ful'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['abli', 'able'],
  ['izer', 'ize'],
  ['ator', 'ate'],
  ['alli', 'al'],
  ['bli', 'ble'],
  ['ogi', 'og'],
  ['li', ''],
];
const STEP_3: Rules = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['alize', 'al'],
  ['icate', 'ic'],
  ['iciti', 'ic'],
  ['ative', ''],
  ['ical', 'ic'],
  ['ness', ''],
  ['ful', ''],
];

/** The longest suffix decides, whether or not it may then be replaced. */
function replaceSuffix(w: string, rules: Rules, r1: number, r2 = 0): string {
  const rule = rules.find(([suffix]) => w.endsWith(suffix));
  if (rule === undefined) return w;
  const [suffix, by] = rule;
  const at = w.length - suffix.length;
  if (at < r1) return w;
  if (suffix === 'ogi' && w[at - 1] !== 'l') return w;
  if (suffix === 'li' && !/[cdeghkmnrt]/.test(w[at - 1] ?? '')) return w;
  if (suffix === 'ative' && at < r2) return w;
  return w.slice(0, at) + by;
}

function step4(w: string, r2: number): string {
  const match = /(?:ement|ance|ence|able|ible|ment|ant|ent|ism|ate|iti|ous|ive|ize|ion|al|er|ic)$/.exec(w);
  if (match === null || match.index < r2) return w;
  if (match[0] === 'ion' && !/[st]/.test(w[match.index - 1] ?? '')) return w;
  return w.slice(0, match.index);
}

function step5(w: string, r1: number, r2: number): string {
  const at = w.length - 1;
  if (w.endsWith('e'))
    return at >= r2 || (at >= r1 && !endsShortSyllable(w.slice(0, -1))) ? w.slice(0, -1) : w;
  return w.endsWith('ll') && at >= r2 ? w.slice(0, -1) : w;
}
