/** Record of a change in a recording, from the record of the change tracker. Pure. */
import type { FoundChange } from '../schemas/change.js';
import type { FootageChange, Moment } from './records.js';

/**
 * @param momentOf the frame of a time of the change tracker, ms
 * @param shown pictures and outlines of the comparison `change.comparisons.best`
 */
export function footageChange(
  change: FoundChange,
  momentOf: (time: number) => Moment,
  shown: Pick<FootageChange, 'pictures' | 'outlines'>,
): FootageChange {
  const { id, camera, kind, caption, confidence, severity, zone, status, regions, object } = change;
  const moment = (time: string): Moment => momentOf(Date.parse(time));
  return {
    v: 1,
    id,
    camera,
    kind,
    caption,
    confidence,
    severity,
    zone,
    status,
    regions,
    ...(object === undefined
      ? {}
      : { object: { value: object.value, at: moment(object.at), probability: object.probability } }),
    first_seen: moment(change.first_seen),
    confirmed: moment(change.confirmed_at),
    last_seen: moment(change.last_seen),
    settled: change.settled_at === null ? null : moment(change.settled_at),
    reverted: change.reverted_at === null ? null : moment(change.reverted_at),
    pictures: shown.pictures,
    ...(shown.outlines === undefined ? {} : { outlines: shown.outlines }),
  };
}
