/** Record of a change in a recording, from the record of the change tracker. Pure. */
import type { Locale } from '../../language/locales.js';
import { readStatement } from '../../language/read-clauses.js';
import { sentenceIn } from '../../language/translate.js';
import type { FoundChange } from '../../schemas/change.js';
import type { FootageChange, Moment, ShownSighting } from '../records.js';

/**
 * @param momentOf the frame of a time of the change tracker, ms
 * @param shown the sighting that shows it
 * @param locale language of the sentence; null: English
 */
export function footageChange(
  change: FoundChange,
  momentOf: (time: number) => Moment,
  shown: ShownSighting,
  locale?: Locale | null,
): FootageChange {
  const { id, camera, kind, severity, zone, status, object, content } = change;
  const { caption: english, confidence, regions, ...pictures } = shown;
  const statement = readStatement(english) ?? content;
  const caption = statement && locale ? sentenceIn(english, statement, locale) : english;
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
    ...pictures,
  };
}
