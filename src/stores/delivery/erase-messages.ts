/** Erasure of the alerts and messages about a change or a visit, with their deliveries. */
import type { ChainableCommander, Redis } from 'ioredis';
import { deliveryIdOf } from '../../base/ids.js';
import type { StreamEvent } from '../../schemas/stream-event.js';
import { KEYS } from '../redis/keys.js';
import { streamed } from './events.js';

/** @param erasing transaction that gets the commands @param id of the change or visit */
export async function eraseMessages(redis: Redis, erasing: ChainableCommander, id: string): Promise<void> {
  const [alerts, deliveries] = await Promise.all([
    redis.zrange(KEYS.alertsOf(id), '0', '-1'),
    redis.zrange(KEYS.deliveriesOf(id), '0', '-1'),
  ]);
  erasing.del(KEYS.deliveriesOf(id), KEYS.alertsOf(id));
  for (const alert of alerts) {
    erasing.del(KEYS.alert(alert), KEYS.deliveriesOfAlert(alert)).zrem(KEYS.alertsByTime, alert);
  }
  for (const delivery of new Set([...deliveries, ...alerts.map(deliveryIdOf)])) {
    erasing.del(KEYS.delivery(delivery)).zrem(KEYS.deliveriesOpen, delivery);
  }
}

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
}
