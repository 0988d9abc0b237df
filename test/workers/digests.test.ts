/** The limit of an endpoint: messages beyond it are held back and counted, and one digest reports them. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { createEnqueueDelivery, recoverEndpoint } from '../../src/jobs/enqueue-delivery.js';
import { LOCALES } from '../../src/language/locales.js';
import { readStatement } from '../../src/language/read-clauses.js';
import { write } from '../../src/language/write.js';
import type { Statement } from '../../src/schemas/statement.js';
import { createDigests } from '../../src/workers/deliveries/digests.js';
import { setUpCamera } from '../helpers/cameras.js';
import { useEndpointDeliveries } from '../helpers/endpoint-deliveries.js';
import { logger } from '../helpers/workers.js';

const world = useEndpointDeliveries();
const { alert, bench, queue, register, run } = world;
const MINUTE = 60_000;
const EVENING = Date.parse('2026-06-01T18:05:00Z');
const limit = { messages: 1, minutes: 5 };
let number = 0;
let held: string[] = [];

const enqueueDelivery = () =>
  createEnqueueDelivery({ ...bench, endpoints: world.endpoints, queue, heldBack: (camera) => held.push(camera) });
const digests = () =>
  createDigests({ ...bench, endpoints: world.endpoints, enqueueDelivery: enqueueDelivery(), logger })();

/** Alerts a change that a sentence states. */
async function seen(sentence: string, given: Parameters<typeof alert>[0] = {}, name = `thing ${number++}`) {
  const content = readStatement(sentence) as Statement;
  const times = { confirmed: world.now, last_seen: new Date(world.now).toISOString() };
  return alert({ suppressedCount: 0, ...given }, { name, ...times, caption: write(content), content });
}
async function received() {
  for (const id of world.queued.splice(0)) await run(id);
  return world.receiver.received.splice(0).map(({ body }) => JSON.parse(body));
}

beforeEach(async () => {
  world.now = EVENING;
  held = [];
  await setUpCamera(bench, 'gate', {
    schedule: {
      timezone: 'Europe/Berlin',
      windows: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '00:00', to: '00:00' }],
    },
  });
});

describe('An endpoint with a limit', () => {
  it('gets one message in its time and a digest that counts the others, in each language', async () => {
    for (const locale of LOCALES) await register({ limit, locale, format: 'slack' });
    const sent: number[] = [];
    for (let minute = 0; minute < 5; minute++) {
      const sentence =
        minute === 3 ? 'a red car has appeared' : minute === 4 ? 'two people have appeared' : 'a man has appeared';
      sent.push((await seen(sentence)).ids.length);
      world.now += MINUTE;
    }
    expect(sent).toEqual([LOCALES.length, 0, 0, 0, 0]);
    await received();
    expect(await digests()).toBe(LOCALES.length);
    expect(await digests()).toBe(0);
    const titles = (await received()).map(({ text }) => text);
    expect(titles.sort()).toEqual(
      [
        'Between 20:06 and 20:09: 4 people and 1 car.',
        'Zwischen 20:06 und 20:09: 4 Personen und 1 Auto.',
        'Entre las 20:06 y las 20:09: 4 personas y 1 coche.',
        'Entre 20:06 et 20:09 : 4 personnes et 1 voiture.',
        '20:06から20:09まで：人物4人、車1台。',
      ].sort(),
    );
    // The next message begins the next time.
    expect((await seen('a man has appeared')).ids).toHaveLength(LOCALES.length);
  });

  it('gets at most one message and one digest per camera and five minutes in an hour of passers-by', async () => {
    const endpoint = await register({ limit });
    let [passed, messages, counted] = [0, 0, 0];
    for (let minute = 0; minute < 60; minute++) {
      await seen('a person has appeared');
      passed += 1;
      world.now += MINUTE;
      await digests();
      for (const { type, data } of await received()) {
        if (type === 'alerts.digest') counted += data.digest.messages;
        else messages += 1;
      }
    }
    expect(messages).toBeLessThanOrEqual(12);
    expect(messages + counted).toBe(passed);
    expect((await world.endpoints.get(endpoint.id))?.heldBack).toBe(counted);
  });

  it('counts a message once, however often it is queued, and not again on recovery', async () => {
    const endpoint = await register({ limit });
    await register({});
    await seen('a person has appeared');
    const { stored, ids } = await seen('a person has appeared');
    expect(ids).toHaveLength(1);
    await enqueueDelivery().ofAlert(stored);
    const record = await world.endpoints.get(endpoint.id);
    expect([record?.heldBack, held]).toEqual([1, ['gate']]);
    if (record === undefined) throw new Error('the endpoint is kept');
    const { queued } = await recoverEndpoint(record, 0, { ...bench, endpoints: world.endpoints, queue });
    expect(queued).toBe(0);
  });

  it('gets the end of a change only if its beginning was sent, and if there is room', async () => {
    await register({ limit });
    await seen('a person has appeared', {}, 'first');
    await seen('a person has appeared', {}, 'second');
    const ends = async (name: string) => {
      const id = `alr_${name.padEnd(26, '0')}`;
      return (await seen('a person has appeared', { id, type: 'change.reverted', cooldownKey: null }, name)).ids.length;
    };
    expect([await ends('first'), await ends('second')]).toEqual([0, 0]);
    world.now += 6 * MINUTE;
    await digests();
    await seen('a person has appeared', {}, 'third');
    world.now += 6 * MINUTE;
    // The end takes no room.
    expect([await ends('third'), (await seen('a person has appeared')).ids.length]).toEqual([1, 1]);
  });

  it('counts the alerts that a cool-down suppressed before a message', async () => {
    await register({ limit, format: 'slack' });
    await seen('a person has appeared');
    await seen('a person has appeared', { suppressedCount: 3 });
    await received();
    world.now += 6 * MINUTE;
    await digests();
    expect((await received()).map(({ text }) => text)).toEqual(['Between 20:05 and 20:05: 4 people.']);
  });

  it('counts a change that becomes more severe once, and a thing without a name as a change', async () => {
    await register({ limit, format: 'slack' });
    await seen('a person has appeared');
    await seen('a person has appeared', {}, 'second');
    const escalated = {
      id: `alr_${'escalated'.padEnd(26, '0')}`,
      type: 'change.escalated' as const,
      cooldownKey: null,
    };
    await seen('a person has appeared', escalated, 'second');
    await seen('something has appeared');
    await received();
    world.now += 6 * MINUTE;
    await digests();
    const [digest] = (await received()).map(({ text }) => text);
    expect(digest).toBe('Between 20:05 and 20:05: 1 person and 1 change.');
  });

  it('that is deleted, or whose camera is, gets no digest', async () => {
    const endpoint = await register({ limit });
    for (let i = 0; i < 3; i++) await seen('a person has appeared');
    await world.endpoints.erase(endpoint.id);
    world.now += 6 * MINUTE;
    expect([await digests(), await world.endpoints.limits.due()]).toEqual([0, []]);
  });
});
