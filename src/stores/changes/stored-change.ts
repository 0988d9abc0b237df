/** The record of a change: the fields of its hash, and the resource that they make together. */
import type { Redis } from 'ioredis';
import type { Change, FoundChange } from '../../schemas/change.js';
import type { Feedback } from '../../schemas/feedback.js';
import type { ChangeStatus } from '../../schemas/kinds.js';
import { KEYS } from '../redis/keys.js';
import { repliesOf } from '../redis/redis.js';

/** Fields of a change's hash: the reducer writes the first, the API the others. */
const CHANGE_FIELDS = ['change', 'acknowledged', 'feedback'] as const;

/** The part of a change that the reducer writes. */
export function foundPart(change: Change): FoundChange {
  const { acknowledged_at: _acknowledged, feedback: _feedback, ...found } = change;
  return found;
}

/** A change also ends after its acknowledgement, so `reverted` prevails. */
const statusOf = ({ status }: FoundChange, acknowledged: boolean): ChangeStatus =>
  acknowledged && status !== 'reverted' ? 'acknowledged' : status;

/** @param fields those of CHANGE_FIELDS */
function changeOf([json, acknowledged, feedback]: (string | null)[]): Change | undefined {
  if (json == null) return undefined;
  const found = JSON.parse(json) as FoundChange;
  return {
    ...found,
    status: statusOf(found, acknowledged != null),
    acknowledged_at: acknowledged ?? null,
    feedback: feedback == null ? null : (JSON.parse(feedback) as Feedback),
  };
}

/** @returns a reader of changes, in the order of the ids; undefined for a change that does not exist */
export function readerOf(redis: Redis) {
  return async (ids: readonly string[]): Promise<(Change | undefined)[]> => {
    const pipeline = redis.pipeline();
    for (const id of ids) pipeline.hmget(KEYS.change(id), ...CHANGE_FIELDS);
    return repliesOf<(string | null)[]>(await pipeline.exec()).map(changeOf);
  };
}
