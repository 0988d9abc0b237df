/** Alerts on their way out of the service: events of the stream, and deliveries to the receivers. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { createEnqueueDelivery } from '../../src/jobs/enqueue-delivery.js';
import { KEYS } from '../../src/stores/redis/keys.js';
import { setUpCamera } from '../helpers/cameras.js';
import { foundChange, opening, saveTurnChanges, storedAlert } from '../helpers/changes.js';
import { useBench } from '../helpers/workers.js';

const bench = useBench();
beforeEach(() => setUpCamera(bench, 'gate'));

const alerted = async (given: Parameters<typeof storedAlert>[1] = {}) => {
  const change = foundChange({ caption: 'a van has appeared' });
  const alert = storedAlert(change, given);
  await saveTurnChanges(bench.redis, { changes: [opening(change)], alerts: [alert] });
  return { alert, change };
};

describe('an alert', () => {
  it('is an event of the stream beside that of the change', async () => {
    const { alert, change } = await alerted();
    const events = (await bench.redis.xrange(KEYS.events, '-', '+')).map(([, [, json]]) => JSON.parse(json ?? ''));
    const { zone, kind, severity, caption, camera } = change;
    expect(events.map(({ type }) => type)).toEqual(['change.opened', 'alert.opened']);
    expect(events[1]).toEqual({
      ...{ type: 'alert.opened', subject: { kind: 'change', id: change.id }, at: change.last_seen },
      ...{ zone, kind, severity, caption, camera },
      data: { alert: alert.message.id },
    });
  });

  it('without any receiver has no delivery, and is not left open', async () => {
    const { alert, change } = await alerted({ url: null });
    expect(await bench.redis.zcard(KEYS.deliveriesOpen)).toBe(1);
    const jobs: object[] = [];
    const queue = { addDelivery: async (ids: object) => void jobs.push(ids) };
    await createEnqueueDelivery({ ...bench, queue }).ofAlert(alert);
    expect(jobs).toEqual([]);
    expect(await bench.deliveries.ofSubject(change.id)).toEqual([]);
    expect(await bench.redis.zcard(KEYS.deliveriesOpen)).toBe(0);
  });
});
