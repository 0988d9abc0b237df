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
async function seen(
  sentence: string,
  given: Parameters<typeof alert>[0] = {},
  name = `thing ${number++}`,
  confirmed = world.now,
) {
  const content = readStatement(sentence) as Statement;
  const times = { confirmed, last_seen: new Date(world.now).toISOString() };
  return alert({ suppressedCount: 0, ...given }, { name, ...times, caption: write(content), content });
}
async function received() {
  for (const id of world.queued.splice(0)) await run(id);
  return world.receiver.received.splice(0).map(({ body }) => JSON.parse(body));
}

const gaps = (times: readonly number[]) => times.slice(1).map((at, i) => at - (times[i] ?? 0));

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

  it.each([1, 3])('gets at most %i messages and one digest in any five minutes, ends with them', async (messages) => {
    const endpoint = await register({ limit: { messages, minutes: 5 } });
    const sent: number[] = [];
    const digested: number[] = [];
    let counted = 0;
    const read = async () => {
      await digests();
      for (const { type, data } of await received()) {
        (type === 'alerts.digest' ? digested : sent).push(world.now);
        counted += type === 'alerts.digest' ? data.digest.messages : 0;
      }
    };
    // A person every 41 s for an hour, with a quiet quarter in it; each leaves after 5 minutes and 28 s.
    for (let step = 0; step < 88; step++) {
      const queued: string[] = [];
      const pass = async (of: number, given: Parameters<typeof alert>[0]) => {
        const confirmed = EVENING + of * 41_000;
        if (of >= 0 && (of < 40 || of > 62)) {
          queued.push(...(await seen('a person has appeared', given, 'passer', confirmed)).ids);
        }
      };
      await pass(step, {});
      await pass(step - 8, {
        id: `alr_end${String(step).padEnd(23, 'x')}`,
        type: 'change.reverted',
        cooldownKey: null,
      });
      world.queued = queued;
      world.now += 41_000;
      await read();
    }
    for (const times of [sent.slice(messages).map((at, i) => at - (sent[i] ?? 0)), gaps(digested)]) {
      expect(Math.min(...times)).toBeGreaterThanOrEqual(5 * MINUTE);
    }
    world.now += 6 * MINUTE;
    await read();
    const record = await world.endpoints.get(endpoint.id);
    const passed = 88 - 23;
    // No end displaces a beginning.
    const ends = messages === 1 ? 0 : sent.length + counted - passed;
    expect([sent.length + counted - ends, ends > 0]).toEqual([passed, messages > 1]);
    expect(record?.heldBack).toBeGreaterThanOrEqual(counted);
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

  it('gets the end of a change only if its beginning was sent, and if room is left after it', async () => {
    await register({ limit: { messages: 2, minutes: 5 } });
    for (const name of ['first', 'other', 'second']) await seen('a person has appeared', {}, name);
    const ends = async (name: string) => {
      const id = `alr_${name.padEnd(26, '0')}`;
      const end = { id, type: 'change.reverted' as const, cooldownKey: null };
      return (await seen('a person has appeared', end, name, EVENING)).ids.length;
    };
    expect([await ends('first'), await ends('second')]).toEqual([0, 0]);
    world.now += 6 * MINUTE;
    await digests();
    await seen('a person has appeared', {}, 'third');
    expect(await ends('third')).toBe(0);
    world.now += 6 * MINUTE;
    expect([await ends('first'), (await seen('a person has appeared')).ids.length]).toEqual([0, 1]);
    world.now += 6 * MINUTE;
    expect([await ends('other'), (await seen('a person has appeared')).ids.length]).toEqual([1, 1]);
    expect((await seen('a person has appeared')).ids).toHaveLength(0);
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
