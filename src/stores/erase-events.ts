/** Erasure of events from the stream, and from those that wait for the MQTT broker: they carry sentences. */
import type { Redis } from 'ioredis';
import type { StreamEvent } from '../schemas/stream-event.js';
import { streamed } from './events.js';
import { KEYS } from './keys.js';

const READ_AT_ONCE = 1_000;

/** @param isErased whether an event is erased */
export async function eraseEvents(redis: Redis, isErased: (event: StreamEvent) => boolean): Promise<void> {
  for (let from = '-'; ; ) {
    const entries = await redis.xrange(KEYS.events, from, '+', 'COUNT', READ_AT_ONCE);
    const ids = entries.map(streamed).flatMap(({ id, event }) => (event !== null && isErased(event) ? [id] : []));
    if (ids.length > 0) await redis.xdel(KEYS.events, ...ids);
    if (entries.length < READ_AT_ONCE) break;
    from = `(${entries.at(-1)?.[0]}`;
  }
  for (const json of await redis.lrange(KEYS.mqttWaiting, 0, -1)) {
    if (isErased((JSON.parse(json) as { event: StreamEvent }).event)) await redis.lrem(KEYS.mqttWaiting, 0, json);
  }
}
