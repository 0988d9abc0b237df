/** The parts of a brief as lines of text, which the pages in Markdown and HTML share. Pure. */
import { HOUR_MS } from '../base/clock.js';
import type { Locale } from '../language/locales.js';
import { textIn } from '../language/translate.js';
import { BRIEF_LISTS, type BriefGroup, type CameraBrief, type Unseen } from '../schemas/brief.js';
import type { BriefCamera, BriefHour, BriefLine } from '../schemas/documents.js';
import { clockOf, dateOf } from './day.js';

/** A brief, the language of its text, and the address of the page that shows a change or a visit, by its id. */
interface Wording {
  readonly brief: CameraBrief;
  readonly locale: Locale;
  readonly pageOf: (id: string) => string;
}

export function cameraText(wording: Wording): BriefCamera {
  const { brief, locale } = wording;
  const { day, timezone, over, not_seen, truncated } = brief;
  const text = (key: string): string => textIn(locale, key);
  const leftOut = (n: number, key: string): BriefLine[] =>
    n === 0 ? [] : [{ text: textIn(locale, key, { n }), link: null }];
  const perHour = (counts: CameraBrief['passages']): BriefLine[] => {
    const shown = counts.map(({ from, count }) => `${timeIn(brief)(from)}: ${count}`);
    return shown.length === 0 ? [] : [{ text: shown.join(', '), link: null }];
  };
  const sections = BRIEF_LISTS.filter((list) => brief[list].count > 0).map((list) => ({
    title: `${text(list)} (${brief[list].count})`,
    lines: [
      ...brief[list].groups.map((group) => groupLine(group, wording)),
      ...leftOut(brief[list].left_out, 'left_out'),
    ],
  }));
  const unseen = {
    title: `${text('not_seen')} (${duration(not_seen.seconds)})`,
    lines: [
      ...not_seen.spans.map((span) => unseenLine(span, wording)),
      ...leftOut(not_seen.left_out, 'shorter_left_out'),
    ],
  };
  const visits = {
    title: `${text('visits')} (${brief.visits.count})`,
    hours: hoursOf(brief.visits.per_hour, brief),
    lines: [
      ...perHour(brief.visits.per_hour).map((line) => ({ ...line, text: `${text('per_hour')}: ${line.text}` })),
      ...brief.visits.items.map((visit) => visitLine(visit, wording)),
      ...leftOut(brief.visits.left_out, 'earlier_left_out'),
    ],
  };
  const passages = { title: text('passages'), hours: hoursOf(brief.passages, brief), lines: perHour(brief.passages) };
  const nothing = { title: text('nothing'), lines: [] };
  return {
    title: cameraTitle(brief, 'name and id'),
    subtitle: `${day}, ${timezone}${over ? '' : text('so_far')}${truncated ? text('truncated') : ''}`,
    sections: [
      ...[visits, passages].filter(({ lines }) => lines.length > 0),
      ...(sections.length + visits.lines.length === 0 ? [nothing] : sections),
      ...(unseen.lines.length === 0 ? [] : [unseen]),
    ],
  };
}

/** All hours of the day, those without any count as well. */
function hoursOf(counts: CameraBrief['passages'], brief: CameraBrief): BriefHour[] {
  const [from, until] = [Date.parse(brief.from), Date.parse(brief.until)];
  return Array.from({ length: Math.ceil((until - from) / HOUR_MS) }, (_, i) => {
    const begin = from + i * HOUR_MS;
    const count = counts.find((one) => Date.parse(one.from) === begin)?.count ?? 0;
    return { time: timeIn(brief)(new Date(begin).toISOString()), count };
  });
}

/** @returns the name of the camera for people, or its id without one */
export function cameraTitle({ camera, name }: CameraBrief, shown: 'name' | 'name and id'): string {
  if (name === null || name.trim() === '') return camera;
  return shown === 'name' ? oneLine(name) : `${oneLine(name)} (${camera})`;
}

/** Names and corrected sentences may contain line breaks and other control characters. */
const oneLine = (text: string): string => text.replace(/[\s\p{Cc}\u2028\u2029]+/gu, ' ').trim();

function groupLine(
  { caption, ended, count, first_at, last_at, changes }: BriefGroup,
  { brief, locale, pageOf }: Wording,
): BriefLine {
  const time = timeIn(brief);
  const text = (key: string, values: Parameters<typeof textIn>[2] = {}): string => textIn(locale, key, values);
  const when = count === 1 ? time(first_at) : text('range', { from: time(first_at), to: time(last_at) });
  const [only] = changes;
  const until = count === 1 && !ended && only?.ended_at != null ? text('until', { time: time(only.ended_at) }) : '';
  const times = count === 1 ? '' : text('times', { n: count });
  const last = changes.at(-1);
  return {
    text: `${when}${until}${times}: ${oneLine(caption)}`,
    link: last === undefined ? null : { text: text(count === 1 ? 'show' : 'show_last'), url: pageOf(last.id) },
  };
}

function visitLine(
  { id, caption, status, first_seen, last_seen }: CameraBrief['visits']['items'][number],
  { brief, locale, pageOf }: Wording,
): BriefLine {
  const time = timeIn(brief);
  const [from, to] = [time(first_seen), time(last_seen)];
  const span = from === to ? from : textIn(locale, 'range', { from, to });
  const when = status === 'open' ? `${from} ${textIn(locale, 'open_visit')}` : span;
  return { text: `${when}: ${oneLine(caption)}`, link: { text: textIn(locale, 'show'), url: pageOf(id) } };
}

function unseenLine({ from, until, detail, change }: Unseen, { brief, locale, pageOf }: Wording): BriefLine {
  const time = timeIn(brief);
  const to = until === null ? textIn(locale, 'on_going') : time(until);
  return {
    text: `${textIn(locale, 'range', { from: time(from), to })}: ${oneLine(detail)}`,
    link: change === null ? null : { text: textIn(locale, 'show'), url: pageOf(change) },
  };
}

/** Times outside of the day have their date. */
export const timeIn =
  ({ from, until, timezone }: CameraBrief) =>
  (iso: string): string => {
    const at = Date.parse(iso);
    const isInside = at >= Date.parse(from) && at < Date.parse(until);
    return isInside ? clockOf(at, timezone) : `${dateOf(at, timezone)} ${clockOf(at, timezone)}`;
  };

export function duration(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
