/** Changes as a turn of a camera stores them. */
import type { Redis } from 'ioredis';
import { derivedId } from '../../src/base/ids.js';
import { alertMessage } from '../../src/camera/changes/message.js';
import type { AlertIntent, Change, ChangeUpdate, FoundChange } from '../../src/schemas/change.js';
import { changeWrites, eventOf, type StoredMessage, type TurnChanges } from '../../src/stores/changes/change-writes.js';

export const NOON = Date.parse('2026-01-05T12:00:00Z');
const COMPARISON = 'cmp_00000000000000000000000001';

export function foundChange(given: Partial<FoundChange> & { name?: string; confirmed?: number } = {}): FoundChange {
  const { name = 'car', confirmed = NOON, ...rest } = given;
  const at = new Date(confirmed).toISOString();
  return {
    id: derivedId('chg', confirmed, name),
    camera: 'gate',
    zone: null,
    kind: 'appear',
    caption: 'a car has appeared',
    confidence: 0.9,
    status: 'opened',
    severity: 'medium',
    first_seen: at,
    confirmed_at: at,
    last_seen: at,
    settled_at: null,
    reverted_at: null,
    alerted_at: null,
    suppressed_count: 0,
    regions: [{ side: 'after', box: { x: 0.1, y: 0.2, width: 0.3, height: 0.4 }, area: 0.1, score: 0.9, zone: null }],
    comparisons: { first: COMPARISON, best: COMPARISON, last: COMPARISON },
    ...rest,
  };
}

export const storedChange = (given: Parameters<typeof foundChange>[0] & Partial<Change> = {}): Change => {
  const { acknowledged_at = null, feedback = null, ...found } = given;
  return { ...foundChange(found), acknowledged_at, feedback };
};

export { eventOf as changeEvent };
export const opening = (change: FoundChange): ChangeUpdate => ({ change, event: 'change.opened' });

export function storedAlert(
  change: FoundChange,
  given: Partial<AlertIntent> & { url?: string | null } = {},
): StoredMessage {
  const { url = 'https://user.example/alerts?token=1', cooldownKey = 'gate//appear/1', ...rest } = given;
  const at = Date.parse(change.last_seen);
  const alert = {
    id: derivedId('alr', at, change.id),
    type: 'change.opened' as const,
    change,
    suppressedCount: 2,
    at,
    ...rest,
  };
  const { suppressedCount } = alert;
  return {
    message: alertMessage(alert),
    ...(cooldownKey !== null && { cooldown: { cooldownKey, suppressedCount } }),
    comparisonId: change.comparisons.last,
    url,
    traceId: '0123456789abcdef0123456789abcdef',
    apiKeyId: 'key_test',
  };
}

/** Saves the changes and alerts of a turn as its atomic step does. */
export async function saveTurnChanges(
  redis: Redis,
  turn: Partial<TurnChanges>,
  { now = Date.now(), retentionMs = 3_600_000 } = {},
): Promise<void> {
  const saving = redis.multi();
  const found = { camera: 'gate', changes: [], alerts: [], eventsApplied: 0, ...turn };
  for (const [name, ...args] of changeWrites(found, now, retentionMs)) saving.call(name, ...args.map(String));
  for (const [error] of (await saving.exec()) ?? []) if (error !== null) throw error;
}
