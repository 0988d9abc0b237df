/** The members of a request that belong to a search for the moment at which a place changed. */
import { polygonFault } from '../../cameras/polygon.js';
import { invalidValue } from '../../errors.js';
import { parseDuration, parseTimeOption } from '../../footage/inputs/times.js';
import type { TimeInRecording, WhenRequest } from '../../stores/batch-request.js';
import type { BatchOptions } from '../schemas/batches.js';
import { usable } from './usable.js';

const OF_WHEN = ['roi', 'polygon', 'between', 'covered_s'] as const;
/** The search compares single frames at one place: these would change nothing. */
const OF_CHANGES = ['since', 'until', 'exact', 'across_gaps', 'merge_window_s'] as const;
const DEFAULT_EVERY = '1s';
const DEFAULT_COVERED_S = 60;

/**
 * @returns undefined if every change is looked for
 * @throws ScenedeltaError 'invalid-value' naming the field: a member of the other mode, no place or two, a place
 *   without an area or outside the frame, times that cannot be read or of which the second is not later
 */
export function readWhen(options: BatchOptions): WhenRequest | undefined {
  const mode = options.mode ?? 'changes';
  const foreign = (mode === 'when' ? OF_CHANGES : OF_WHEN).find((name) => options[name] !== undefined);
  if (foreign !== undefined) {
    const other = mode === 'when' ? 'changes' : 'when';
    throw refused(foreign, `${foreign} belongs to mode ${other} and the mode is ${mode}`);
  }
  if (mode === 'changes') return undefined;
  const { every = 'auto', covered_s = DEFAULT_COVERED_S, time_zone = 'UTC' } = options;
  if (every === 'keyframes' || every === 'all') {
    throw refused('every', `every is ${every} and the mode is when, expected a duration as 10s`);
  }
  const text = every === 'auto' ? DEFAULT_EVERY : every;
  return {
    place: placeOf(options),
    between: betweenOf(options.between, time_zone),
    every: usable('every', () => parseDuration(text, 'every')),
    covered: covered_s,
  };
}

function placeOf({ roi, polygon }: BatchOptions): WhenRequest['place'] {
  if ((roi === undefined) === (polygon === undefined)) {
    const came = roi === undefined ? 'neither roi nor polygon is' : 'roi and polygon are both';
    throw refused('roi', `${came} given and the mode is when, expected one of them`);
  }
  if (polygon !== undefined) {
    const fault = polygonFault(polygon);
    if (fault !== null) throw refused('polygon', `polygon ${fault}, expected a polygon without crossings`);
    return polygon;
  }
  const { x, y, width, height } = roi as NonNullable<typeof roi>;
  const isInside = width > 0 && height > 0 && x + width <= 1 + Number.EPSILON && y + height <= 1 + Number.EPSILON;
  if (isInside) return { x, y, width, height };
  throw refused('roi', `roi is ${x},${y},${width},${height}, expected a rectangle with an area within the frame`);
}

function betweenOf(between: BatchOptions['between'], timeZone: string): WhenRequest['between'] {
  if (between === undefined) return null;
  const [from, until] = between.map((text) => usable('between', () => timeOf(text, timeZone)));
  if (from === undefined || until === undefined) return null;
  const isOrdered =
    'at' in from && 'at' in until ? from.at < until.at : 'at' in from || 'at' in until || from.seconds < until.seconds;
  if (isOrdered) return { from, until };
  throw refused('between', `between is ${between.join(', ')}, expected two times, the earlier one first`);
}

function timeOf(text: string, timeZone: string): TimeInRecording {
  const time = parseTimeOption(text, 'between', timeZone);
  if (!('frame' in time)) return time;
  throw refused('between', `between is ${text}, expected times as 12.5s or 2026-06-01T12:00:00Z`);
}

const refused = (field: string, message: string) => invalidValue(message, field);
