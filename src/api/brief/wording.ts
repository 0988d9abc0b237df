/** The parts of a brief as lines of text, which the pages in Markdown and HTML share. Pure. */
import {
  BRIEF_LISTS,
  type BriefGroup,
  type BriefListName,
  type CameraBrief,
  type Unseen,
} from '../../schemas/brief.js';
import { clockOf, dateOf } from './day.js';

/** A line, and the change that it links to. */
export interface Line {
  readonly text: string;
  readonly link: { readonly text: string; readonly url: string } | null;
}
interface Section {
  readonly title: string;
  readonly lines: readonly Line[];
}
export interface CameraText {
  readonly title: string;
  readonly subtitle: string;
  readonly sections: readonly Section[];
}

const TITLES: Readonly<Record<BriefListName, string>> = {
  came: 'Came',
  left: 'Left',
  moved: 'Moved',
  replaced: 'Replaced',
  still_there: 'Still there',
  still_gone: 'Still gone',
};

/** @param pageOf address of the page that shows a change or a visit, by its id */
export function cameraText(brief: CameraBrief, pageOf: (id: string) => string): CameraText {
  const { camera, name, day, timezone, over, not_seen, truncated } = brief;
  const sections = BRIEF_LISTS.filter((list) => brief[list].count > 0).map((list) => ({
    title: `${TITLES[list]} (${brief[list].count})`,
    lines: [
      ...brief[list].groups.map((group) => groupLine(group, brief, pageOf)),
      ...plain(brief[list].left_out, 'more changes are left out'),
    ],
  }));
  const unseen = {
    title: `Not seen (${duration(not_seen.seconds)})`,
    lines: [
      ...not_seen.spans.map((span) => unseenLine(span, brief, pageOf)),
      ...plain(not_seen.left_out, 'shorter spans are left out'),
    ],
  };
  const visits = {
    title: `Visits (${brief.visits.count})`,
    lines: [
      ...brief.visits.items.map((visit) => visitLine(visit, brief, pageOf)),
      ...plain(brief.visits.left_out, 'earlier visits are left out'),
    ],
  };
  const passed = brief.passages.map(({ from, count }) => `${timeIn(brief)(from)}: ${count}`);
  const passages = {
    title: 'Passages per hour',
    lines: passed.length === 0 ? [] : [{ text: passed.join(', '), link: null }],
  };
  const nothing = { title: 'Nothing changed', lines: [] };
  return {
    title: name === null || name.trim() === '' ? camera : `${oneLine(name)} (${camera})`,
    subtitle:
      `${day}, ${timezone}${over ? '' : ', so far'}` +
      (truncated ? '; there were more changes than are read, so that all counts are lower bounds' : ''),
    sections: [
      ...[visits, passages].filter(({ lines }) => lines.length > 0),
      ...(sections.length === 0 && visits.lines.length === 0 ? [nothing] : sections),
      ...(unseen.lines.length === 0 ? [] : [unseen]),
    ],
  };
}

/** Names and corrected sentences may contain line breaks and other control characters. */
const oneLine = (text: string): string => text.replace(/[\s\p{Cc}\u2028\u2029]+/gu, ' ').trim();

const plain = (count: number, text: string): Line[] => (count === 0 ? [] : [{ text: `${count} ${text}`, link: null }]);

function groupLine(
  { caption, ended, count, first_at, last_at, changes }: BriefGroup,
  brief: CameraBrief,
  pageOf: (id: string) => string,
): Line {
  const time = timeIn(brief);
  const when = count === 1 ? time(first_at) : `${time(first_at)} to ${time(last_at)}`;
  const [only] = changes;
  const until = count === 1 && !ended && only?.ended_at != null ? `, until ${time(only.ended_at)}` : '';
  const since = count === 1 && ended && only !== undefined ? `, since ${time(only.first_seen)}` : '';
  const times = count === 1 ? '' : ` (${count} times)`;
  const last = changes.at(-1);
  return {
    text: `${when} ${ended ? 'no longer: ' : ''}${oneLine(caption)}${times}${until}${since}`,
    link: last === undefined ? null : { text: count === 1 ? 'show' : 'show the last', url: pageOf(last.id) },
  };
}

function visitLine(
  { id, caption, status, first_seen, last_seen }: CameraBrief['visits']['items'][number],
  brief: CameraBrief,
  pageOf: (id: string) => string,
): Line {
  const time = timeIn(brief);
  const until = status === 'open' ? 'still there' : `to ${time(last_seen)}`;
  return { text: `${time(first_seen)} ${until}: ${oneLine(caption)}`, link: { text: 'show', url: pageOf(id) } };
}

function unseenLine({ from, until, detail, change }: Unseen, brief: CameraBrief, pageOf: (id: string) => string): Line {
  const time = timeIn(brief);
  return {
    text: `${time(from)} to ${until === null ? 'the end' : time(until)}: ${oneLine(detail)}`,
    link: change === null ? null : { text: 'show', url: pageOf(change) },
  };
}

/** Times of another day have their date. */
const timeIn =
  ({ day, timezone }: CameraBrief) =>
  (iso: string): string => {
    const at = Date.parse(iso);
    const date = dateOf(at, timezone);
    return date === day ? clockOf(at, timezone) : `${date} ${clockOf(at, timezone)}`;
  };

function duration(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
