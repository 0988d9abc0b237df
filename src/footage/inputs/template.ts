/**
 * Templates of file names: camera and time from the path, e.g.
 * `{date:%Y-%m-%d}/{hour:%H}/{camera}/{minute:%M}.{second:%S}.mp4`.
 */
import { ScenedeltaError } from '../../errors.js';
import { checkedWallClock, instantOf, type WallClock } from './wall-clock.js';

export interface NameParts {
  /** null: the template has no {camera} */
  readonly camera: string | null;
  /** epoch ms; null: the template has no date */
  readonly at: number | null;
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

/** Codes of strptime(3), each with the pattern of its digits. */
const CODES: Readonly<Record<string, string>> = {
  Y: '\\d{4}',
  m: '\\d{1,2}',
  d: '\\d{1,2}',
  H: '\\d{1,2}',
  M: '\\d{1,2}',
  S: '\\d{1,2}',
  f: '\\d{1,6}',
  s: '\\d{9,11}(?:\\.\\d{1,6})?',
};

/**
 * @param text `{camera}`; `{any}`; `{ext}`; `{NAME:FORMAT}` with the codes %Y %m %d %H %M %S %f %s. It fits the end of
 *   a path, from the beginning of a folder or name.
 * @throws ScenedeltaError 'invalid-request' naming what is wrong
 */
export function compileTemplate(text: string, timeZone: string): Template {
  const codes: string[] = [];
  const source = text.replace(/\{([^{}]*)\}|([^{}]+)|[{}]/g, (part, field?: string, literal?: string) => {
    if (literal !== undefined) return escaped(literal);
    if (field === undefined) throw refused(text, `${part} without its counterpart`);
    return fieldPattern(text, field, codes);
  });
  const pattern = new RegExp(`(?:^|/)${source}$`);
  return { text, match: (path) => read(pattern.exec(path.replaceAll('\\', '/')), codes, timeZone) };
}

function fieldPattern(text: string, field: string, codes: string[]): string {
  if (field === 'camera') {
    if (codes.includes('camera')) throw refused(text, '{camera} twice');
    codes.push('camera');
    return '([^/]+?)';
  }
  if (field === 'any') return '[^/]*?';
  if (field === 'ext') return '[A-Za-z0-9]+';
  const [, format] = /^\w+:(.+)$/.exec(field) ?? [];
  if (format === undefined) {
    throw refused(text, `{${field}}, expected {camera}, {any}, {ext} or {NAME:FORMAT} as {hour:%H}`);
  }
  return format.replace(/%(.?)|([^%]+)/g, (_, code?: string, literal?: string) => {
    if (literal !== undefined) return escaped(literal);
    const digits = CODES[code ?? ''];
    if (digits === undefined) throw refused(text, `%${code}, expected one of %${Object.keys(CODES).join(' %')}`);
    if (codes.includes(code as string)) throw refused(text, `%${code} twice`);
    codes.push(code as string);
    return `(${digits})`;
  });
}

const escaped = (literal: string): string => literal.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

const refused = (text: string, what: string) =>
  new ScenedeltaError('invalid-request', `--template ${JSON.stringify(text)} has ${what}`);

function read(match: RegExpExecArray | null, codes: readonly string[], timeZone: string): NameParts | undefined {
  if (match === null) return undefined;
  const values = new Map(codes.map((code, i) => [code, match[i + 1] as string]));
  const camera = values.get('camera') ?? null;
  const epoch = values.get('s');
  if (epoch !== undefined) return { camera, at: Math.round(Number(epoch) * 1000) };
  if (!values.has('Y')) return { camera, at: null };
  const number = (code: string, fallback: number) => Number(values.get(code) ?? fallback);
  const fraction = Number(`0.${values.get('f') ?? 0}`);
  const clock = checkedWallClock({
    ...{ year: number('Y', 0), month: number('m', 1), day: number('d', 1) },
    ...{ hour: number('H', 0), minute: number('M', 0), second: number('S', 0) + fraction },
  });
  return clock === undefined ? undefined : { camera, at: instantOf(clock, timeZone) };
}

/** Date and time with or without separators; digits before or after belong to another number. */
const IN_NAME =
  /(?<!\d)(19\d\d|20\d\d)[-_.]?(\d\d)[-_.]?(\d\d)[T _.-]{0,2}(\d\d)[-_.:h]?(\d\d)[-_.:m]?(\d\d)(?:[.,](\d{1,3}))?(?!\d)/;

/** @returns the time that a name without a template states, epoch ms; null if it states none */
export function timeInName(name: string, timeZone: string): number | null {
  const match = IN_NAME.exec(name);
  if (match === null) return null;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    ...[number, number, number],
    ...[number, number, number],
  ];
  const fraction = Number(`0.${match[7] ?? 0}`);
  const clock: WallClock = { year, month, day, hour, minute, second: second + fraction };
  return checkedWallClock(clock) === undefined ? null : instantOf(clock, timeZone);
}
