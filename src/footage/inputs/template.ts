/**
 * Templates of file names: camera and time from the path, e.g.
 * `{date:%Y-%m-%d}/{hour:%H}/{camera}/{minute:%M}.{second:%S}.mp4`.
 */
import { invalidRequest } from '../../base/errors.js';
import {
  type ClockDoubt,
  checkedWallClock,
  instantOf,
  offsetOf,
  readClock,
  type WallClock,
} from '../../base/wall-clock.js';

export interface NameParts {
  /** null: the template has no {camera} */
  readonly camera: string | null;
  /** epoch ms; null: the template has no date */
  readonly at: number | null;
  /** place among files of one time; null: none is stated */
  readonly order: number | null;
  /** of a time without an offset; absent: none */
  readonly doubt?: ClockDoubt;
}

export interface Template {
  readonly text: string;
  /** @returns undefined if the path does not fit */
  match(path: string): NameParts | undefined;
}

interface Preset {
  readonly template: string;
  /** undefined: that of --tz, or of this machine */
  readonly timeZone?: string;
}

export const PRESETS: Readonly<Record<string, Preset>> = {
  /** recordings of Frigate; its names are in UTC */
  frigate: { template: '{date:%Y-%m-%d}/{hour:%H}/{camera}/{minute:%M}.{second:%S}.{ext}', timeZone: 'UTC' },
  dated: { template: '{camera}/{date:%Y-%m-%d}/{time:%H-%M-%S}.{ext}' },
};

/** Codes of strptime(3), each with the pattern of its text. */
const CODES: Readonly<Record<string, string>> = {
  Y: '\\d{4}',
  y: '\\d{2}',
  m: '\\d{1,2}',
  b: '[A-Za-z]{3}',
  d: '\\d{1,2}',
  j: '\\d{1,3}',
  H: '\\d{1,2}',
  I: '\\d{1,2}',
  p: '[AaPp][Mm]',
  M: '\\d{1,2}',
  S: '\\d{1,2}',
  f: '\\d{1,6}',
  s: '\\d{9,11}(?:\\.\\d{1,6})?',
  z: '(?:GMT|UTC)?[+-]\\d{1,2}(?::?\\d{2})?|GMT|UTC|Z',
};
/** Numbers of two digits, as programs write them. */
const EXACT: typeof CODES = { ...CODES, m: '\\d{2}', d: '\\d{2}', H: '\\d{2}', M: '\\d{2}', S: '\\d{2}' };
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** POSIX: two digits from here on are years of 19xx. */
const FIRST_YEAR_OF_1900S = 69;

/**
 * @param text `{camera}`; `{order}` (a number among the files of one time); `{any}`; `{ext}`; `{NAME:FORMAT}` with the
 *   codes %Y %y %m %b %d %j %H %I %p %M %S %f %s %z. It fits the end of a path, from the beginning of a folder or name.
 * @param options.exact numbers below 100 have two digits each, hours of AM and PM excepted
 * @throws ScenedeltaError 'invalid-request' naming what is wrong
 */
export function compileTemplate(text: string, timeZone: string, options?: { readonly exact: boolean }): Template {
  const patterns = options?.exact ? EXACT : CODES;
  const codes: string[] = [];
  const source = text.replace(/\{([^{}]*)\}|([^{}]+)|[{}]/g, (part, field?: string, literal?: string) => {
    if (literal !== undefined) return escaped(literal);
    if (field === undefined) throw refused(text, `${part} without its counterpart`);
    return fieldPattern(text, field, codes, patterns);
  });
  if (codes.includes('I') !== codes.includes('p')) throw refused(text, '%I or %p, expected both');
  const pattern = new RegExp(`(?:^|/)${source}$`);
  return { text, match: (path) => read(pattern.exec(path.replaceAll('\\', '/')), codes, timeZone) };
}

/** Longest text of {any} and {camera}: names are bounded, and so is the search for a fit. */
const LONGEST = 100;

function fieldPattern(text: string, field: string, codes: string[], patterns: typeof CODES): string {
  if (field === 'camera' || field === 'order') {
    if (codes.includes(field)) throw refused(text, `{${field}} twice`);
    codes.push(field);
    return field === 'camera' ? `([^/]{1,${LONGEST}}?)` : '(\\d{1,10})';
  }
  if (field === 'any') return `[^/]{0,${LONGEST}}?`;
  if (field === 'ext') return '[A-Za-z0-9]+';
  const [, format] = /^\w+:(.+)$/.exec(field) ?? [];
  if (format === undefined) {
    throw refused(text, `{${field}}, expected {camera}, {order}, {any}, {ext} or {NAME:FORMAT} as {hour:%H}`);
  }
  return format.replace(/%(.?)|([^%]+)/g, (_, code?: string, literal?: string) => {
    if (literal !== undefined) return escaped(literal);
    const digits = patterns[code ?? ''];
    if (digits === undefined) throw refused(text, `%${code}, expected one of %${Object.keys(CODES).join(' %')}`);
    if (codes.includes(code as string)) throw refused(text, `%${code} twice`);
    codes.push(code as string);
    return `(${digits})`;
  });
}

const escaped = (literal: string): string => literal.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

const refused = (text: string, what: string) => invalidRequest(`--template ${JSON.stringify(text)} has ${what}`);

function read(match: RegExpExecArray | null, codes: readonly string[], timeZone: string): NameParts | undefined {
  if (match === null) return undefined;
  const values = new Map(codes.map((code, i) => [code, match[i + 1] as string]));
  const camera = values.get('camera') ?? null;
  const order = values.get('order');
  const stated = { camera, order: order === undefined ? null : Number(order) };
  const epoch = values.get('s');
  if (epoch !== undefined) return { ...stated, at: Math.round(Number(epoch) * 1000) };
  if (!values.has('Y') && !values.has('y')) return { ...stated, at: null };
  const clock = checkedWallClock({ ...dateOf(values), ...timeOfDay(values) });
  if (clock === undefined) return undefined;
  const offset = values.get('z');
  if (offset === undefined) return { ...stated, ...readClock(clock, timeZone) };
  return { ...stated, at: instantOf(clock, 'UTC') - offsetOf(offset) };
}

type Values = ReadonlyMap<string, string>;

function dateOf(values: Values): Pick<WallClock, 'year' | 'month' | 'day'> {
  const short = Number(values.get('y'));
  const year = Number(values.get('Y') ?? (short < FIRST_YEAR_OF_1900S ? 2000 : 1900) + short);
  const ofYear = values.get('j');
  if (ofYear !== undefined) {
    const date = new Date(Date.UTC(year, 0, Number(ofYear)));
    // A day that the year does not have fits no template: the calendar has no day 0.
    const day = date.getUTCFullYear() === year ? date.getUTCDate() : 0;
    return { year, month: date.getUTCMonth() + 1, day };
  }
  const name = values.get('b');
  const month = name === undefined ? Number(values.get('m') ?? 1) : MONTHS.indexOf(name.toLowerCase()) + 1;
  return { year, month, day: Number(values.get('d') ?? 1) };
}

function timeOfDay(values: Values): Pick<WallClock, 'hour' | 'minute' | 'second'> {
  const number = (code: string) => Number(values.get(code) ?? 0);
  const second = number('S') + Number(`0.${values.get('f') ?? 0}`);
  const half = values.get('p');
  if (half === undefined) return { hour: number('H'), minute: number('M'), second };
  const hour = number('I');
  const isHour = hour >= 1 && hour <= 12;
  const inDay = (hour % 12) + (half.toLowerCase() === 'pm' ? 12 : 0);
  return { hour: isHour ? inDay : 24, minute: number('M'), second };
}
