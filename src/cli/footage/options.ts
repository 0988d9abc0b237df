/** Options of `scenedelta footage`, from text to values. */
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { invalidRequest, ScenedeltaError } from '../../base/errors.js';
import type { Box, Size } from '../../base/images.js';
import { isObject } from '../../base/is-object.js';
import { assertTimeZone, localTimeZone } from '../../base/wall-clock.js';
import { type CameraSettings, checkSettings, type Zone } from '../../camera/settings/settings.js';
import type { Every } from '../../footage/inputs/recording-plan.js';
import { compileTemplate, PRESETS, type Template } from '../../footage/inputs/template.js';
import { parseCalendarTime, parseDuration } from '../../footage/inputs/times.js';
import type { Locale } from '../../language/locales.js';
import type { RecordingOptions } from './recording-options.js';

export interface FootageOptions extends Omit<RecordingOptions, 'between' | 'covered'> {
  readonly outputDir: string;
  readonly camera?: string;
  readonly startTime?: string;
  readonly endTime?: string;
  readonly duration?: string;
  readonly roi?: readonly string[];
  readonly config?: string;
  readonly gap?: string;
  readonly maxFailureRate?: string;
  readonly parallel?: string;
  readonly locale?: Locale;
  readonly model?: string;
  readonly device?: string;
  readonly clips?: true;
  readonly fromStats?: true;
  readonly scanOnly?: true;
  readonly restart?: true;
  readonly quiet?: true;
}

/** @throws ScenedeltaError 'invalid-request' */
export function readTemplate({ template, tz }: Pick<FootageOptions, 'template' | 'tz'>): {
  template: Template | null;
  timeZone: string;
} {
  const preset = template === undefined ? undefined : PRESETS[template];
  const timeZone = tz === undefined ? (preset?.timeZone ?? localTimeZone()) : assertTimeZone(tz, '--tz');
  if (template === undefined) return { template: null, timeZone };
  if (preset === undefined && !template.includes('{')) {
    const names = Object.keys(PRESETS).join(', ');
    const came = JSON.stringify(template);
    throw invalidRequest(`--template ${came}: expected ${names}, or a template with {camera}`);
  }
  return { template: compileTemplate(preset?.template ?? template, timeZone), timeZone };
}

/** @throws ScenedeltaError 'invalid-request' */
export function readEvery({ every, exact }: FootageOptions): Every {
  if (every === 'auto' || every === 'keyframes' || every === 'all') {
    if (exact === undefined) return { mode: every };
    throw invalidRequest(`--exact with --every ${every}: expected a duration as 10s`);
  }
  return { mode: 'seconds', seconds: parseDuration(every, '--every'), exact: exact === true };
}

/** @throws ScenedeltaError 'invalid-request' */
export function readStart({ start }: Pick<FootageOptions, 'start'>, timeZone: string): number | null {
  if (start === undefined) return null;
  const at = parseCalendarTime(start, timeZone);
  if (at !== null) return at;
  throw invalidRequest(`--start ${JSON.stringify(start)}: expected a time as 2026-06-01T12:00:00`);
}

/** @param option its name for the message @throws ScenedeltaError 'invalid-request' */
export function readShare(text: string, option: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0 && value <= 1) return value;
  throw invalidRequest(`${option} ${JSON.stringify(text)}: expected a number from 0 to 1`);
}

/** @param option its name for the message @throws ScenedeltaError 'invalid-request' */
export function readCount(option: string, text: string | undefined, processors: number): number {
  if (text === undefined) return processors;
  if (/^[1-9]\d?$/.test(text)) return Number(text);
  throw invalidRequest(`${option} ${JSON.stringify(text)}: expected 1 to 99`);
}

/**
 * @param frameSize of the first frame, for a `--roi` in pixels
 * @returns the settings of the file, with a zone per `--roi`
 * @throws ScenedeltaError 'invalid-request', 'invalid-value'
 */
export async function readSettings(
  { config, roi = [], locale }: Pick<FootageOptions, 'config' | 'roi' | 'locale'>,
  frameSize: () => Promise<Size>,
): Promise<CameraSettings> {
  const settings = checkSettings(config === undefined ? {} : await readConfig(config));
  const rois: unknown[] = [];
  for (const [i, text] of roi.entries()) rois.push(await roiZone(text, i, frameSize));
  return checkSettings({ ...settings, ...(locale && { locale }), zones: [...settings.zones, ...rois] });
}

async function readConfig(path: string): Promise<unknown> {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new ScenedeltaError('invalid-request', `-c ${path} cannot be read (${cause.code})`, { cause });
  });
  try {
    const value: unknown = /^\.ya?ml$/i.test(extname(path)) ? (await import('yaml')).parse(text) : JSON.parse(text);
    if (isObject(value)) return value;
  } catch (cause) {
    throw new ScenedeltaError('invalid-request', `-c ${path}: ${(cause as Error).message}`, { cause });
  }
  throw invalidRequest(`-c ${path}: expected the settings of a camera as JSON or YAML`);
}

async function roiZone(text: string, index: number, frameSize: () => Promise<Size>): Promise<Partial<Zone>> {
  const { x, y, width, height } = await readRoi(text, frameSize);
  const corner = (cornerX: number, cornerY: number): [number, number] => [cornerX, cornerY];
  const [right, bottom] = [x + width, y + height];
  const polygon = [corner(x, y), corner(right, y), corner(right, bottom), corner(x, bottom)];
  return { id: index === 0 ? 'roi' : `roi-${index + 1}`, type: 'include', polygon };
}

/**
 * @param frameSize is called for a rectangle in pixels
 * @returns the rectangle in fractions of the frame
 * @throws ScenedeltaError 'invalid-request'
 */
export async function readRoi(text: string, frameSize: () => Promise<Size>): Promise<Box> {
  const numbers = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
  const refused = () => {
    const expected = 'expected x,y,width,height in pixels or as fractions of the frame, within the frame';
    return invalidRequest(`--roi ${JSON.stringify(text)}: ${expected}`);
  };
  if (numbers.length !== 4 || numbers.some((value) => !(value >= 0))) throw refused();
  const { width: w, height: h } = numbers.some((value) => value > 1) ? await frameSize() : { width: 1, height: 1 };
  const [x, y, width, height] = numbers as [number, number, number, number];
  const [left, top, right, bottom] = [x / w, y / h, (x + width) / w, (y + height) / h];
  if (right > 1 || bottom > 1 || width === 0 || height === 0) throw refused();
  return { x: left, y: top, width: right - left, height: bottom - top };
}
