/** Erasure of the alerts and messages about a change or a visit, with their deliveries. */
import type { ChainableCommander, Redis } from 'ioredis';
import { deliveryIdOf } from '../ids.js';
import { KEYS } from './keys.js';

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
