/**
 * Judgements of a person, each of one or several changes. It is shown at once as not saved yet, and sent after some
 * seconds or when the page is left, and again if the service was away, also after the page is loaded again. Undoing
 * drops one that was not sent, and withdraws one that was.
 */
import { signal } from '@preact/signals';
import { systemTime } from '../../../src/base/clock.js';
import { ApiError, api, messageOf, ok } from '../api/client.js';
import { away, recoveries } from '../api/connection.js';
import { PAGE } from '../api/pages.js';
import { addressOf } from '../api/root.js';
import type { Change } from '../api/types.js';
import { t } from '../texts/texts.js';
import { toast } from '../ui/toasts.js';
import { keepChange } from './store.js';

type Judgement = 'correct' | 'false_alarm';
type Action =
  | { readonly kind: 'feedback'; readonly judgement: Judgement; readonly caption?: string }
  | { readonly kind: 'acknowledge' }
  | { readonly kind: 'normal' };

interface Pending {
  readonly changes: readonly Change[];
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

/** @returns the sentence of a change, or the number of several */
const subjectOf = ([first, ...others]: readonly Change[]): string =>
  others.length === 0 ? (first?.caption ?? '') : t('{n} change|{n} changes', { n: others.length + 1 });

export function act(changes: readonly Change[], action: Action): void {
  const removeToast = toast(
    t('{action}, not saved yet: {subject}', { action: nameOf(action), subject: subjectOf(changes) }),
    { name: t('Undo'), run: () => undo(entry) },
    UNDO_MS,
  );
  const entry: Pending = { changes, action, removeToast, timer: setTimeout(() => commit(entry), UNDO_MS) };
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
  const { changes, action } = entry;
  sent = sent.filter((one) => one !== entry);
  try {
    for (const change of changes) await withdrawFrom(change, action);
    toast(t('Undone: {subject}', { subject: subjectOf(changes) }));
  } catch (error) {
    sent = [...sent, entry];
    toast(
      t('Not undone ({subject}): {reason}', { subject: subjectOf(changes), reason: messageOf(error) }),
      undefined,
      3 * UNDO_MS,
    );
  }
}

async function withdrawFrom({ id, feedback, acknowledged_at }: Change, action: Action): Promise<void> {
  const params = { path: { id } };
  if (action.kind === 'acknowledge') {
    if (acknowledged_at === null) keepChange(await ok(api.DELETE('/v1/changes/{id}/acknowledge', { params })));
  } else if (feedback === null) keepChange(await ok(api.DELETE('/v1/changes/{id}/feedback', { params })));
  else {
    const { judgement, caption } = feedback;
    const body = { judgement, ...(caption === undefined ? {} : { caption }) };
    keepChange(await ok(api.POST('/v1/changes/{id}/feedback', { params, body })));
  }
}

export const isOf = ({ changes }: Pending, { id }: Change): boolean => changes.some((change) => change.id === id);

/** @returns the change as it will be once its pending actions are sent */
export function withPending(change: Change): Change {
  let { acknowledged_at, feedback } = change;
  const at = systemTime();
  for (const { action } of pending.value.filter((entry) => isOf(entry, change))) {
    if (action.kind === 'acknowledge') acknowledged_at ??= at;
    if (action.kind !== 'feedback') continue;
    const { judgement, caption } = action;
    feedback = { judgement, at, ...(caption === undefined ? {} : { caption }) };
  }
  return { ...change, acknowledged_at, feedback };
}

function commit(entry: Pending): void {
  if (!pending.value.includes(entry) || inFlight.has(entry)) return;
  const flight = commitNow(entry).finally(() => inFlight.delete(entry));
  inFlight.set(entry, flight);
}

async function commitNow(entry: Pending): Promise<void> {
  try {
    await send(entry);
    const isNew = entry.action.kind === 'feedback' || entry.changes.some((change) => change.acknowledged_at === null);
    if (entry.action.kind !== 'normal' && isNew) sent = [...sent, entry].slice(-MOST_SENT);
  } catch (error) {
    if (error instanceof ApiError && error.status === 0) return commitLater(entry);
    toast(
      t('Not saved ({subject}): {reason}', { subject: subjectOf(entry.changes), reason: messageOf(error) }),
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

async function send({ changes, action }: Pending): Promise<void> {
  const [first, ...others] = changes;
  if (action.kind === 'feedback' && others.length > 0) return judgeAll(changes, action.judgement);
  if (action.kind === 'feedback' && first !== undefined) {
    const { kind: _kind, ...body } = action;
    return keepChange(await ok(api.POST('/v1/changes/{id}/feedback', { params: { path: { id: first.id } }, body })));
  }
  for (const change of changes) {
    if (action.kind === 'normal') await makeNormal(change);
    else keepChange(await ok(api.POST('/v1/changes/{id}/acknowledge', { params: { path: { id: change.id } } })));
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
    const kept = pending.value.map(({ changes, action }) => ({ changes, action }));
    sessionStorage.setItem(UNSENT, JSON.stringify(kept));
    return;
  }
  for (const { changes, action, timer } of pending.value) {
    clearTimeout(timer);
    if (action.kind === 'normal') continue;
    const { kind, ...body } = action;
    for (const { id } of changes) {
      void fetch(addressOf(`/v1/changes/${id}/${kind}`), {
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
  const kept = JSON.parse(sessionStorage.getItem(UNSENT) ?? '[]') as Pick<Pending, 'changes' | 'action'>[];
  sessionStorage.removeItem(UNSENT);
  for (const { changes, action } of kept) act(changes, action);
}
