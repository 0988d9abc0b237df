/** Erasure of changes with their alerts, deliveries and index entries. */
import type { Redis } from 'ioredis';
import { cameraSubject } from '../../schemas/message.js';
import { eraseEvents, eraseMessages } from '../delivery/erase-messages.js';
import { KEYS } from '../redis/keys.js';
import { earlierThan } from '../redis/pages.js';
import { redisCall } from '../redis/redis.js';
import { logEntry } from './change-log.js';
import { allIndexes } from './change-writes.js';
import { readerOf } from './stored-change.js';

const ERASED_AT_ONCE = 500;

export function erasureOf(redis: Redis) {
  const read = readerOf(redis);

  const erase = async (id: string): Promise<boolean> => {
    const [change] = await read([id]);
    const erasing = redis
      .multi()
      .del(KEYS.change(id))
      .zrem(KEYS.changesByWriting, id)
      .zrem(KEYS.changesByFeedback, id)
      .call(...logEntry(id));
    await eraseMessages(redis, erasing, id);
    if (change !== undefined) {
      for (const index of allIndexes(change.camera)) erasing.zrem(index, id);
    }
    const [first] = (await erasing.exec()) ?? [];
    return first?.[1] === 1;
  };

  /** @param select chooses from each page of the camera's changes, in the order of their confirmation */
  const eraseSelected = async (camera: string, select: (ids: string[]) => Promise<string[]>) => {
    const index = KEYS.changesByCamera(camera);
    let erased = 0;
    for (let from = 0; ; ) {
      const ids = await redis.zrange(index, String(from), String(from + ERASED_AT_ONCE - 1));
      const selected = await select(ids);
      for (const id of selected) if (await erase(id)) erased++;
      // The camera of an expired hash is unknown to `erase`, which leaves its id in this index.
      if (selected.length > 0) await redis.zrem(index, ...selected);
      if (ids.length < ERASED_AT_ONCE) return erased;
      from += ids.length - selected.length;
    }
  };

  return {
    /** @returns ids of changes last written before `before` (epoch ms), oldest first. */
    olderThan: earlierThan(redis, 'listing old changes', KEYS.changesByWriting),
    /** Erases the camera's changes last written before `before` (epoch ms). @returns how many. */
    eraseOlderOf: (camera: string, before: number): Promise<number> =>
      redisCall("erasing a camera's old changes", () =>
        // The index is ordered by the camera's clock and retention by ours, so all changes of the camera are read.
        eraseSelected(camera, async (ids) => {
          const written = ids.length === 0 ? [] : await redis.zmscore(KEYS.changesByWriting, ...ids);
          return ids.filter((_id, i) => written[i] != null && Number(written[i]) < before);
        }),
      ),
    /** Erases the change with its alerts and their deliveries, pending ones included. */
    erase: (id: string) => redisCall('erasing a change', () => erase(id)),
    /** Erases everything of a deleted camera, and all events of it. @returns how many changes. */
    eraseOf: (camera: string): Promise<number> =>
      redisCall("erasing a camera's changes", async () => {
        const erased = await eraseSelected(camera, async (ids) => ids);
        const erasing = redis.multi().del(KEYS.cameraEvents(camera));
        await eraseMessages(redis, erasing, cameraSubject(camera).id);
        await erasing.exec();
        await eraseEvents(redis, (event) => event.camera === camera);
        return erased;
      }),
  };
}
