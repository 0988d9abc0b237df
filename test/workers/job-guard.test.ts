/** Failures that no job is to blame for: stores that refuse, and workers that die over another job. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { DAY_MS } from '../../src/base/clock.js';
import { shortenOverlongLocks } from '../../src/jobs/overlong-locks.js';
import { QUEUE_PREFIX, QUEUES } from '../../src/jobs/queues.js';
import { KEYS } from '../../src/stores/redis/keys.js';
import { createRunStore, RETURN_S } from '../../src/stores/redis/runs.js';
import { jobOf } from '../helpers/comparisons.js';
import { eventually } from '../helpers/eventually.js';
import { CALLBACK, useQueues } from '../helpers/queues.js';
import { recordingLogger } from '../helpers/recording-logger.js';
import { jobGuard, output, scriptedPipeline } from '../helpers/workers.js';

const queues = useQueues();
const { accept, deliver, open, serve, statusOf } = queues;
const failing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const restore of failing.splice(0)) await restore();
});

/** Redis refuses writes from now on. @returns how to let it take them again */
const refuseWrites = async (setting: 'maxmemory' | 'replica') => {
  const { redis } = queues.bench;
  const restore = async () =>
    setting === 'maxmemory' ? redis.config('SET', 'maxmemory', '0') : redis.call('REPLICAOF', 'NO', 'ONE');
  if (setting === 'maxmemory') await redis.config('SET', 'maxmemory', '1');
  else await redis.call('REPLICAOF', '127.0.0.1', '1');
  failing.push(restore);
  return restore;
};

describe('Redis that refuses writes', () => {
  it.each(['maxmemory', 'replica'] as const)(
    'fails no accepted comparison, and doubles no delivery (%s)',
    async (setting) => {
      const { pipeline } = scriptedPipeline(() => new Promise((resolve) => setTimeout(resolve, 50, output)));
      deliver();
      serve(pipeline);
      const made: string[] = [];
      for (let i = 0; i < 12; i++) made.push((await accept({ callbackUrl: CALLBACK })).id);
      await eventually(() => expect(queues.posted.length).toBeGreaterThan(0));
      const restore = await refuseWrites(setting);
      await eventually(() => expect(queues.bench.guard.isRefused()).toBe(true));
      // Longer than the locks of the jobs last.
      await new Promise((resolve) => setTimeout(resolve, 2_500));
      await restore();
      await eventually(async () => {
        await queues.recover();
        for (const id of made) expect(await statusOf(id)).toBe('finished');
        expect(new Set(queues.posted).size).toBe(made.length);
      }, 30_000);
      expect(queues.bench.guard.isRefused()).toBe(false);
      expect(queues.posted).toHaveLength(made.length);
    },
    60_000,
  );
});

describe('a job that a script of the queue left in no list', () => {
  it('is queued again by recovery', async () => {
    const { id, queue } = await accept();
    await queues.bench.redis.lrem(queue.toKey('wait'), 1, id);
    expect(await queues.recover()).toMatchObject({ comparisons: 1 });
    serve();
    await eventually(async () => expect(await statusOf(id)).toBe('finished'));
  });
});

describe('a job that ran alone twice when its worker died', () => {
  /** A worker that takes an item and dies. */
  const dies = async (item: string, name: string, alone = true) => {
    const runs = createRunStore(queues.bench.redis, name);
    const presence = await runs.listen();
    await runs.begin(item, { alone });
    await presence.close();
    const seen = () => queues.bench.redis.pubsub('NUMSUB', KEYS.presence(name));
    await eventually(async () => expect(await seen()).toEqual([expect.anything(), 0]));
  };

  it('is put into quarantine with the reason, and no third worker runs it', async () => {
    const { pipeline, calls } = scriptedPipeline(async () => output);
    const { id } = await accept({ queue: 'archive' });
    await dies(id, 'wrk_1');
    await dies(id, 'wrk_2');
    serve(pipeline);
    await eventually(async () => expect(await statusOf(id)).toBe('failed'));
    expect(calls).toHaveLength(0);
    expect((await queues.bench.results.get(id))?.comparison.error).toMatchObject({
      type: expect.stringContaining('quarantined'),
      detail: 'It ran alone 2 times and the worker died each time, so it is not tried again',
    });
  });

  it('as a delivery, is failed with the reason in its log', async () => {
    serve();
    const { id } = await accept({ callbackUrl: CALLBACK });
    await eventually(async () => expect(await queues.bench.deliveries.ofSubject(id)).toHaveLength(1));
    const [delivery] = await queues.bench.deliveries.ofSubject(id);
    await dies(delivery?.id ?? '', 'wrk_1');
    await dies(delivery?.id ?? '', 'wrk_2');
    deliver();
    await eventually(async () => {
      const [now] = await queues.bench.deliveries.ofSubject(id);
      expect(now).toMatchObject({
        state: 'failed',
        attempts: [{ error: expect.stringContaining('the worker died each time') }],
      });
    });
    expect(queues.posted).toEqual([]);
  });

  it('is not one that ran beside others, however often', async () => {
    const { pipeline, calls } = scriptedPipeline(async () => output);
    const { id } = await accept({ queue: 'archive' });
    for (const name of ['wrk_1', 'wrk_2', 'wrk_3']) await dies(id, name, false);
    serve(pipeline);
    await eventually(async () => expect(await statusOf(id)).toBe('finished'));
    expect(calls).toHaveLength(1);
  });

  it('runs alone: others end before it, and a job of hours gives way', async () => {
    const guard = jobGuard(queues.bench);
    await dies('suspect', 'wrk_1');
    const order: string[] = [];
    const step = (name: string) => async () => {
      order.push(`${name} begins`);
      await new Promise((resolve) => setTimeout(resolve, 50));
      order.push(`${name} ends`);
    };
    let giveWay = () => {};
    const asked = new Promise<void>((resolve) => (giveWay = resolve));
    const long = { giveWay, hasProgressed: async () => false };
    const hours = guard.counted('batch', () => asked, { long }).then(() => order.push('batch gives way'));
    await eventually(async () => expect(await queues.bench.redis.hget('sd:run:batch', 'worker')).not.toBe(null));
    await Promise.all([hours, guard.counted('suspect', step('suspect')), guard.counted('other', step('other'))]);
    await guard.counted('later', step('later'));
    const alone = order.indexOf('suspect begins');
    expect(order[alone + 1]).toBe('suspect ends');
    expect(order.indexOf('batch gives way')).toBeLessThan(alone);
    expect(await queues.bench.redis.hmget('sd:run:suspect', 'deaths', 'deathsAlone', 'alone')).toEqual(['1', '1', '1']);
  });

  it('as a batch, gives way at its next progress', async () => {
    const guard = jobGuard(queues.bench);
    for (const name of ['wrk_1', 'wrk_2']) await dies('batch', name, false);
    let giveWay = () => {};
    const asked = new Promise<string>((resolve) => (giveWay = () => resolve('gave way')));
    const long = { giveWay, hasProgressed: async () => true };
    expect(await guard.counted('batch', () => asked, { long })).toBe('gave way');
  });

  it('counts no death for a suspect that waited while another one ran', async () => {
    const guard = jobGuard(queues.bench);
    await dies('first', 'wrk_1');
    await dies('second', 'wrk_1');
    let end = () => {};
    const first = guard.counted(
      'first',
      () =>
        new Promise<void>((resolve) => {
          end = resolve;
        }),
    );
    await eventually(async () => expect(await queues.bench.redis.hget('sd:run:first', 'worker')).not.toBe(''));
    const second = guard.counted('second', async () => {});
    await new Promise((resolve) => setTimeout(resolve, 100));
    // A death of this worker would count for the first alone.
    expect(await queues.bench.redis.hget('sd:run:second', 'worker')).not.toBe('wrk_test');
    end();
    await Promise.all([first, second]);
    expect(await queues.bench.redis.hmget('sd:run:second', 'deaths', 'deathsAlone')).toEqual(['1', '1']);
  });

  it('counts no worker that lives, and none that has ended its run', async () => {
    const { redis } = queues.bench;
    const [alive, ended, third] = ['wrk_a', 'wrk_b', 'wrk_c'].map((name) => createRunStore(redis, name));
    const presence = await alive?.listen();
    await alive?.begin('x');
    expect(await ended?.begin('x')).toEqual({ deaths: 0, deathsAlone: 0 });
    await ended?.end('x');
    expect(await third?.begin('x')).toEqual({ deaths: 0, deathsAlone: 0 });
    await presence?.close();
  });

  it('counts no death before the last progress', async () => {
    const [one, two, three] = ['wrk_1', 'wrk_2', 'wrk_3'].map((name) => createRunStore(queues.bench.redis, name));
    await one?.begin('bat', { progress: '0' });
    expect(await two?.begin('bat', { progress: '0' })).toMatchObject({ deaths: 1 });
    expect(await three?.begin('bat', { progress: '1' })).toMatchObject({ deaths: 1 });
  });
});

it('a delivery whose lock is lost is not sent by a second worker beside the first', async () => {
  const { bench } = queues;
  const other = createRunStore(bench.redis, 'wrk_other');
  const presence = await other.listen();
  await other.begin('dlv_x', { exclusive: true });
  const guard = jobGuard(bench);
  expect(await guard.counted('dlv_x', async () => 'sent', { exclusive: true })).toBe('busy');
  await other.end('dlv_x');
  expect(await guard.counted('dlv_x', async () => 'sent', { exclusive: true })).toBe('sent');
  await presence.close();
});

it('a delivery does not run again in a worker before the end of its last run is noted', async () => {
  const { bench } = queues;
  const guard = jobGuard(bench);
  const restore = await refuseWrites('maxmemory');
  expect(bench.guard.isRefused()).toBe(false);
  await expect(guard.counted('dlv_y', async () => 'sent', { exclusive: true })).rejects.toThrow('beginning a job');
  await restore();
  const refuse = async () => {
    await refuseWrites('maxmemory');
    return 'sent';
  };
  expect(await guard.counted('dlv_y', refuse, { exclusive: true })).toBe('sent');
  expect(await guard.counted('dlv_y', async () => 'sent', { exclusive: true })).toBe('busy');
  await Promise.all(failing.splice(0).map((again) => again()));
  await eventually(async () =>
    expect(await guard.counted('dlv_y', async () => 'sent', { exclusive: true })).toBe('sent'),
  );
});

it('a worker knows of a delivery that another one has taken over', async () => {
  const { bench } = queues;
  const other = createRunStore(bench.redis, 'wrk_other');
  const guard = jobGuard(bench);
  const seen = await guard.counted('dlv_z', async () => {
    const before = await guard.holds('dlv_z');
    await other.begin('dlv_z');
    return [before, await guard.holds('dlv_z')];
  });
  expect(seen).toEqual([true, false]);
});

it('a worker that has not yet reached a Redis that failed over is not taken for dead', async () => {
  const { redis } = queues.bench;
  const [first, second] = ['wrk_a', 'wrk_b'].map((name) => createRunStore(redis, name));
  const presence = await first?.listen();
  await first?.begin('dlv_x', { exclusive: true });
  await first?.begin('cmp_x');
  // The new primary has the keys of the old one, and no connection.
  await presence?.close();
  await eventually(async () =>
    expect(await redis.pubsub('NUMSUB', KEYS.presence('wrk_a'))).toEqual([expect.anything(), 0]),
  );
  await redis.set(KEYS.servedSince, 'abcdef:0');
  expect(await second?.begin('dlv_x', { exclusive: true })).toBeUndefined();
  expect(await second?.begin('cmp_x')).toMatchObject({ deaths: 0 });
  const [server, since] = (await redis.get(KEYS.servedSince))?.split(':') ?? [];
  await redis.set(KEYS.servedSince, `${server}:${Number(since) - RETURN_S}`);
  expect(await second?.begin('dlv_x', { exclusive: true })).toMatchObject({ deaths: 1 });
});

it('a clock of Redis that is set back keeps no dead worker alive, and a jump ahead drops no run', async () => {
  const { redis } = queues.bench;
  const [first, second] = ['wrk_a', 'wrk_b'].map((name) => createRunStore(redis, name));
  await first?.begin('dlv_x', { exclusive: true });
  expect(await redis.pttl(KEYS.run('dlv_x'))).toBeGreaterThan(DAY_MS);
  const [seconds] = await redis.time();
  const [server] = ((await redis.info('server')).match(/run_id:\w+/)?.[0] ?? '').split(':').slice(1);
  await redis.set(KEYS.servedSince, `${server}:${Number(seconds) + DAY_MS / 1000}`);
  expect(await second?.begin('dlv_x', { exclusive: true })).toBeUndefined();
  const since = Number((await redis.get(KEYS.servedSince))?.split(':')[1]);
  await redis.set(KEYS.servedSince, `${server}:${since - RETURN_S}`);
  expect(await second?.begin('dlv_x', { exclusive: true })).toMatchObject({ deaths: 1 });
  await second?.end('dlv_x');
  expect(await redis.pttl(KEYS.run('dlv_x'))).toBeLessThan(DAY_MS);
});

it('a lock that a dead worker took by a clock that was ahead ends with those of today', async () => {
  const { redis } = queues.bench;
  const prefix = `${QUEUE_PREFIX}:${QUEUES.live}`;
  await redis.lpush(`${prefix}:active`, 'cmp_dead', 'cmp_alive');
  await redis.sadd(KEYS.workers, 'wrk_dead');
  const overlong = [`${prefix}:cmp_dead:lock`, `${prefix}:stalled-check`, KEYS.worker('wrk_dead')];
  for (const key of overlong) await redis.set(key, '1', 'PX', DAY_MS);
  await redis.set(`${prefix}:cmp_alive:lock`, '1', 'PX', 60_000);
  const locks = shortenOverlongLocks(redis, { lockMs: 4_000, logger: recordingLogger().logger });
  await locks.once();
  locks.close();
  for (const key of overlong) expect(await redis.pttl(key)).toBeLessThanOrEqual(4_000);
  expect(await redis.pttl(`${prefix}:cmp_alive:lock`)).toBeGreaterThan(50_000);
});

it('a comparison that was failed in the queue alone is tried again', async () => {
  const { id, accepted, queue } = await accept();
  await queues.bench.redis.lrem(queue.toKey('wait'), 1, id);
  await queues.bench.redis.zadd(queue.toKey('failed'), Date.now(), id);
  expect(await queues.recover()).toMatchObject({ comparisons: 1 });
  expect(await open(QUEUES.live).getJobState(id)).not.toBe('failed');
  expect(jobOf(accepted).comparisonId).toBe(id);
});
