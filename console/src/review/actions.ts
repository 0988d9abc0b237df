/**
 * Judgements of a person, each of one or several changes and visits. It is shown at once as not saved yet, and sent
 * after some seconds or when the page is left, and again if the service was away, also after the page is loaded again.
 * Undoing drops one that was not sent, and withdraws one that was.
 */
import { signal } from '@preact/signals';
import { systemTime } from '../../../src/base/clock.js';
import { ApiError, api, messageOf, ok } from '../api/client.js';
import { away, recoveries } from '../api/connection.js';
import { PAGE } from '../api/pages.js';
import { addressOf } from '../api/root.js';
import type { Change, Visit } from '../api/types.js';
import { t } from '../texts/texts.js';
import { toast } from '../ui/toasts.js';
import { keepChange } from './store.js';
import { keepVisits } from './visits.js';

type Judgement = 'correct' | 'false_alarm';
type Action =
  | { readonly kind: 'feedback'; readonly judgement: Judgement; readonly caption?: string }
  | { readonly kind: 'acknowledge' }
  | { readonly kind: 'normal' };

/** A record that people judge. */
export type Judged = Change | Visit;

interface Pending {
  readonly records: readonly Judged[];
  readonly action: Action;
  readonly timer: ReturnType<typeof setTimeout>;
  readonly removeToast: () => void;
}

const UNDO_MS = 5_000;
/** Key of the judgements that the service had not confirmed when the page was left. */
const UNSENT = 'unsent-judgements';
const NAMES = { correct: t('Right'), false_alarm: t('False alarm') } as const;

/** Sent judgements that can be withdrawn, the latest last. */
let sent: readonly Pending[] = [];
const MOST_SENT = 100;
/** Judgements that are being sent. The promises never reject. */
const inFlight = new Map<Pending, Promise<void>>();

/** Not sent yet, the latest last. */
export const pending = signal<readonly Pending[]>([]);

const nameOf = (action: Action): string => {
  if (action.kind === 'acknowledge') return t('Acknowledged');
  if (action.kind === 'normal') return t('Normal here from now on');
  return action.caption === undefined ? NAMES[action.judgement] : t('Sentence corrected');
};

const isVisit = (record: Judged): record is Visit => record.id.startsWith('vis_');
const routeOf = (record: Judged) => (isVisit(record) ? '/v1/visits/{id}' : '/v1/changes/{id}');
const keep = (record: Judged): void => (isVisit(record) ? keepVisits([record]) : keepChange(record));

/** @returns the sentence of a change or of the visit with its changes, or the number of several */
const subjectOf = ([first, ...others]: readonly Judged[]): string =>
  first !== undefined && (others.length === 0 || (isVisit(first) && !others.some(isVisit)))
    ? first.caption
    : t('{n} entry|{n} entries', { n: others.length + 1 });

/** @param records a visit comes before its changes */
export function act(records: readonly Judged[], action: Action): void {
  const removeToast = toast(
    t('{action}, not saved yet: {subject}', { action: nameOf(action), subject: subjectOf(records) }),
    { name: t('Undo'), run: () => undo(entry) },
    UNDO_MS,
  );
  const entry: Pending = { records, action, removeToast, timer: setTimeout(() => commit(entry), UNDO_MS) };
  pending.value = [...pending.value, entry];
}

/** @param entry default: the latest one, sent or not */
export function undo(entry: Pending | undefined = pending.value.at(-1) ?? sent.at(-1)): void {
  if (entry === undefined) return;
  if (sent.includes(entry)) return void withdraw(entry);
  if (!pending.value.includes(entry)) return;
  const flight = inFlight.get(entry);
  // A judgement on its way is withdrawn once it has arrived, or dropped if it has not.
  if (flight !== undefined) return void flight.then(() => undo(entry));
  clearTimeout(entry.timer);
  entry.removeToast();
  pending.value = pending.value.filter((one) => one !== entry);
  toast(t('Undone.'));
}

/** Earlier judgements of the changes are given again. */
async function withdraw(entry: Pending): Promise<void> {
  const { records, action } = entry;
  sent = sent.filter((one) => one !== entry);
  try {
    for (const record of records) await withdrawFrom(record, action);
    toast(t('Undone: {subject}', { subject: subjectOf(records) }));
  } catch (error) {
    sent = [...sent, entry];
    toast(
      t('Not undone ({subject}): {reason}', { subject: subjectOf(records), reason: messageOf(error) }),
      undefined,
      3 * UNDO_MS,
    );
  }
}

async function withdrawFrom(record: Judged, action: Action): Promise<void> {
  const params = { path: { id: record.id } };
  const { feedback, acknowledged_at } = record;
  if (action.kind === 'acknowledge') {
    if (acknowledged_at == null) keep(await ok(api.DELETE(`${routeOf(record)}/acknowledge`, { params })));
  } else if (feedback == null) keep(await ok(api.DELETE(`${routeOf(record)}/feedback`, { params })));
  else {
    const { judgement, caption } = feedback;
    await judge(record, { judgement, ...(caption === undefined ? {} : { caption }) });
  }
}

async function judge(record: Judged, body: { judgement: Judgement; caption?: string }): Promise<void> {
  const params = { path: { id: record.id } };
  keep(await ok(api.POST(`${routeOf(record)}/feedback`, { params, body })));
}

export const isOf = ({ records }: Pending, { id }: Judged): boolean => records.some((record) => record.id === id);

/** @returns the record as it will be once its pending actions are sent */
export function withPending<T extends Judged>(record: T): T {
  let { acknowledged_at = null, feedback = null } = record;
  const at = systemTime();
  for (const { action } of pending.value.filter((entry) => isOf(entry, record))) {
    if (action.kind === 'acknowledge') acknowledged_at ??= at;
    if (action.kind !== 'feedback') continue;
    const { judgement, caption } = action;
    feedback = { judgement, at, ...(caption === undefined ? {} : { caption }) };
  }
  return { ...record, acknowledged_at, feedback };
}

function commit(entry: Pending): void {
  if (!pending.value.includes(entry) || inFlight.has(entry)) return;
  const flight = commitNow(entry).finally(() => inFlight.delete(entry));
  inFlight.set(entry, flight);
}

async function commitNow(entry: Pending): Promise<void> {
  try {
    await send(entry);
    const isNew = entry.action.kind === 'feedback' || entry.records.some((record) => record.acknowledged_at == null);
    if (entry.action.kind !== 'normal' && isNew) sent = [...sent, entry].slice(-MOST_SENT);
  } catch (error) {
    if (error instanceof ApiError && error.status === 0) return commitLater(entry);
    toast(
      t('Not saved ({subject}): {reason}', { subject: subjectOf(entry.records), reason: messageOf(error) }),
      undefined,
      3 * UNDO_MS,
    );
  }
  pending.value = pending.value.filter((one) => one !== entry);
}

/** The service is away: the entry stays and is sent when it is back. */
function commitLater(entry: Pending): void {
  const seen = recoveries.peek();
  const stop = recoveries.subscribe((count) => {
    if (count === seen && away.peek() !== null) return;
    queueMicrotask(() => stop());
    commit(entry);
  });
}

async function send({ records, action }: Pending): Promise<void> {
  const changes = records.filter((record): record is Change => !isVisit(record));
  if (action.kind === 'feedback') {
    const { kind: _kind, ...body } = action;
    const single = changes.length > 1 ? records.filter(isVisit) : records;
    for (const record of single) await judge(record, body);
    if (changes.length > 1) await judgeAll(changes, action.judgement);
  } else if (action.kind === 'normal') for (const change of changes) await makeNormal(change);
  else {
    for (const record of records) {
      keep(await ok(api.POST(`${routeOf(record)}/acknowledge`, { params: { path: { id: record.id } } })));
    }
  }
}

/** Judges several changes with one request for each 100. */
async function judgeAll(changes: readonly Change[], judgement: Judgement): Promise<void> {
  const ids = changes.map(({ id }) => id);
  for (let from = 0; from < ids.length; from += PAGE) {
    const body = { changes: ids.slice(from, from + PAGE), judgement };
    for (const change of (await ok(api.POST('/v1/feedback', { body }))).items) keepChange(change);
  }
}

async function makeNormal({ id, camera }: Change): Promise<void> {
  await ok(api.POST('/v1/changes/{id}/normal', { params: { path: { id } } }));
  toast(t('It is normal from the next frame of {camera} that shows it.', { camera }));
}

/** A page that is left has no time to wait. The browser completes these requests. */
addEventListener('pagehide', () => {
  if (away.peek() !== null || inFlight.size > 0) {
    const kept = pending.value.map(({ records, action }) => ({ records, action }));
    sessionStorage.setItem(UNSENT, JSON.stringify(kept));
    return;
  }
  for (const { records, action, timer } of pending.value) {
    clearTimeout(timer);
    if (action.kind === 'normal') continue;
    const { kind, ...body } = action;
    for (const record of records) {
      void fetch(addressOf(`${routeOf(record).replace('{id}', record.id)}/${kind}`), {
        method: 'POST',
        keepalive: true,
        headers: { 'Content-Type': 'application/json', 'X-CSRF-Protection': '1' },
        ...(kind === 'feedback' ? { body: JSON.stringify(body) } : {}),
      });
    }
  }
  pending.value = [];
});

/** Takes up the judgements that the page was left with. */
export function resumeActions(): void {
  const kept = JSON.parse(sessionStorage.getItem(UNSENT) ?? '[]') as Pick<Pending, 'records' | 'action'>[];
  sessionStorage.removeItem(UNSENT);
  for (const { records, action } of kept) act(records, action);
}
