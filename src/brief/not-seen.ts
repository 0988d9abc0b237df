/** The spans of a day in which a camera could not show the scene. Pure. */
import type { CameraState, UnseenSpan } from '../camera/state/state.js';
import type { Locale } from '../language/locales.js';
import { textIn } from '../language/translate.js';
import type { NotSeen, Unseen } from '../schemas/brief.js';
import type { Change } from '../schemas/change.js';
import type { DaySpan } from '../stores/changes/days.js';

const MOST_SPANS = 100;

interface Span {
  readonly reason: Unseen['reason'];
  /** epoch ms; null: it goes on */
  readonly from: number;
  readonly until: number | null;
  readonly detail: string;
  readonly change?: string;
}

export interface Evidence {
  /** recorded spans */
  readonly spans: readonly UnseenSpan[];
  /** undefined before the first frame */
  readonly state: Pick<CameraState, 'last' | 'still' | 'recordedFrom'> | undefined;
  readonly gapSeconds: number;
  /** facts of the day; those of the kind `tamper` count */
  readonly changes: readonly Change[];
  /** epoch ms */
  readonly now: number;
  readonly locale: Locale;
}

export function notSeen({ from, until }: DaySpan, evidence: Evidence): NotSeen {
  const end = Math.min(until, evidence.now);
  const spans = allSpans(evidence)
    .filter((span) => span.from < end && (span.until === null || span.until > from))
    .map((span) => ({
      ...span,
      from: Math.max(span.from, from),
      // A span that goes on after the day, or after now, has no end yet.
      until: span.until !== null && span.until <= until ? span.until : null,
    }));
  const length = (span: Span) => (span.until ?? end) - span.from;
  const longest = [...spans].sort((a, b) => length(b) - length(a)).slice(0, MOST_SPANS);
  return {
    seconds: Math.round(unionOf(spans.map((span) => [span.from, Math.min(span.until ?? end, end)] as const)) / 1000),
    spans: longest.sort((a, b) => a.from - b.from).map(present),
    left_out: spans.length - longest.length,
  };
}

function allSpans({ spans, state, gapSeconds, changes, now, locale }: Evidence): Span[] {
  const detailOf = (reason: Unseen['reason']) => textIn(locale, reason);
  const { last = null, still, recordedFrom } = state ?? {};
  const all: Span[] = spans.map((span) => ({ ...span, detail: detailOf(span.reason) }));
  const begin = recordedFrom ?? (last === null ? null : last.at);
  all.push({ reason: 'unrecorded', from: Number.NEGATIVE_INFINITY, until: begin, detail: detailOf('unrecorded') });
  if (last !== null && now - last.at > gapSeconds * 1000) {
    all.push({ reason: 'gap', from: last.at, until: null, detail: detailOf('gap') });
  }
  if (still?.stuck === true) all.push({ reason: 'frozen', from: still.since, until: null, detail: detailOf('frozen') });
  for (const { id, kind, caption, first_seen, reverted_at, settled_at } of changes) {
    if (kind !== 'tamper') continue;
    const settled = reverted_at === null && settled_at !== null;
    const ended = reverted_at ?? settled_at;
    all.push({
      reason: 'tamper',
      from: Date.parse(first_seen),
      until: ended === null ? null : Date.parse(ended),
      detail: settled ? textIn(locale, 'settled', { sentence: caption }) : caption,
      change: id,
    });
  }
  return all;
}

/** @returns the length that the spans cover together */
function unionOf(spans: readonly (readonly [from: number, until: number])[]): number {
  let covered = 0;
  let reached = Number.NEGATIVE_INFINITY;
  for (const [from, until] of [...spans].sort(([a], [b]) => a - b)) {
    covered += Math.max(0, until - Math.max(from, reached));
    reached = Math.max(reached, until);
  }
  return covered;
}

const present = ({ reason, from, until, detail, change = undefined }: Span): Unseen => ({
  reason,
  from: new Date(from).toISOString(),
  until: until === null ? null : new Date(until).toISOString(),
  detail,
  change: change ?? null,
});
