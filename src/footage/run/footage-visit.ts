/** Record of a visit in a recording, from that of the fold. Pure. */
import { inMinutes, withoutMinutes } from '../../camera/visits/visit.js';
import type { Locale } from '../../language/locales.js';
import { DEFAULT_LOCALE, translated } from '../../language/translate.js';
import type { StoredFrameRef } from '../../schemas/frame-ref.js';
import type { Visit } from '../../schemas/visit.js';
import type { FootageVisit, Moment } from '../records.js';
import type { ComparedFrames } from './checkpoint.js';

/**
 * @param momentOf the frame of a capture time, ms
 * @param frames of the comparison that shows it best; undefined: they are not kept
 * @param locale language of the sentence; null: English
 * @param timeZone of the minutes in the sentence of an uncertain visit; null: it states none
 * @returns the record with the frame of its picture: box, outlines, time and file are of this frame
 */
export function footageVisit(
  visit: Visit,
  momentOf: (time: number) => Moment,
  frames: ComparedFrames | undefined,
  locale: Locale | null | undefined,
  timeZone: string | null,
): { readonly record: FootageVisit; readonly frame: StoredFrameRef | null } {
  const moment = (time: string): Moment => momentOf(Date.parse(time));
  const hasClock = timeZone !== null && moment(visit.first_seen).at !== null;
  const stated = hasClock ? inMinutes(visit, timeZone) : withoutMinutes(visit);
  const { best, first_seen, last_seen, gone, ...same } = translated(stated, locale ?? DEFAULT_LOCALE);
  const outlines = frames?.outlines.filter(({ side, points }) => side === best.side && points.every(isIn(best.box)));
  const record: FootageVisit = {
    v: 1,
    ...same,
    first_seen: moment(first_seen),
    last_seen: moment(last_seen),
    gone: gone === null ? null : { after: moment(gone.after), before: moment(gone.before) },
    shown:
      frames === undefined
        ? null
        : {
            picture: `pictures/${visit.id}.jpg`,
            at: moment(best.at),
            box: best.box,
            ...(outlines === undefined || outlines.length === 0 ? {} : { outlines }),
          },
  };
  return { record, frame: frames === undefined ? null : frames[best.side] };
}

/** Contours lie between the cells of a map, and may leave the box of the pixels a little. */
const MARGIN = 0.04;

const isIn =
  ({ x, y, width, height }: Visit['best']['box']) =>
  ([px, py]: readonly [number, number]): boolean =>
    px >= x - MARGIN && px <= x + width + MARGIN && py >= y - MARGIN && py <= y + height + MARGIN;
