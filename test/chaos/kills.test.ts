/** kill -9 of any process loses nothing that was acknowledged, and leaves nothing behind. */
import { Redis } from 'ioredis';
import { eventually } from '../helpers/eventually.js';
import { startReceiver } from '../helpers/receiver.js';
import { finished, get, isAlive, post, startService, useService } from '../helpers/service.js';

const CAPTION = 'a red thing has appeared on the right';

const used = useService();

/** Kills one process and waits until another stands in its place. */
async function killed(name: 'api' | 'worker' | 'redis') {
  const before = (await used.service.processes())[name];
  process.kill(before, 'SIGKILL');
  await eventually(async () => {
    const now = (await used.service.processes())[name];
    expect(now).not.toBe(before);
    expect(isAlive(now)).toBe(true);
  });
}
const ready = () =>
  eventually(async () => {
    expect((await get(used.service, '/readyz')).status).toBe(200);
  }, 20_000);

it('a worker killed in the middle of a job: the job is done again by the next one, and delivered once', async () => {
  let asked = () => {};
  const firstAsked = new Promise<void>((done) => {
    asked = done;
  });
  let stalled = true;
  // The job stands in the download of its frame when the worker dies; the second time the frame comes.
  const camera = await startReceiver(({ path }, response) => {
    if (path === '/hook') return response.end();
    asked();
    if (stalled) return undefined;
    response.setHeader('content-type', 'image/jpeg');
    return response.end(used.pair.after);
  });
  try {
    const { status, body } = await post(
      used.service,
      { before: used.pair.before, after: `${camera.url}/frame.jpg`, callback_url: `${camera.url}/hook` },
      { prefer: 'respond-async' },
    );
    expect(status).toBe(202);
    await firstAsked;
    stalled = false;
    await killed('worker');
    expect(await finished(used.service, body.id)).toMatchObject({ status: 'finished', caption: CAPTION });
    const hooks = () => camera.received.filter(({ path }) => path === '/hook');
    await eventually(() => expect(hooks()).toHaveLength(1));
    const events = await eventsOf(body.id);
    expect(events.filter((type) => type === 'comparison.finished')).toHaveLength(1);
    expect(hooks()).toHaveLength(1);
  } finally {
    await camera.close();
  }
}, 180_000);

/** Types of the events of a comparison in the event stream, oldest first. */
async function eventsOf(id: string): Promise<string[]> {
  const redis = new Redis(`${used.service.dataDir}/redis/redis.sock`);
  try {
    const entries = await redis.xrange('sd:events', '-', '+');
    return entries
      .map(([, fields]) => JSON.parse(fields[fields.indexOf('event') + 1] ?? '{}'))
      .filter(({ comparisonId }) => comparisonId === id)
      .map(({ type }) => type);
  } finally {
    redis.disconnect();
  }
}

it('Redis killed under load: everything that was acknowledged is finished, the rest was refused', async () => {
  await ready();
  const acknowledged: string[] = [];
  const refused: number[] = [];
  let sending = true;
  const sender = async () => {
    while (sending) {
      const answer = await post(used.service, used.pair, { prefer: 'respond-async' }).catch(() => undefined);
      if (answer?.status === 202) acknowledged.push(answer.body.id);
      else refused.push(answer?.status ?? 0);
      await new Promise((done) => setTimeout(done, 20));
    }
  };
  const senders = [sender(), sender()];
  await eventually(() => expect(acknowledged.length).toBeGreaterThan(10));
  await killed('redis');
  const atTheKill = acknowledged.length;
  await eventually(() => expect(acknowledged.length).toBeGreaterThan(atTheKill + 10), 20_000);
  sending = false;
  await Promise.all(senders);
  for (const id of acknowledged) expect((await finished(used.service, id)).caption).toBe(CAPTION);
  // While Redis was down every caller received 503, and nothing else.
  expect(new Set(refused)).toEqual(refused.length > 0 ? new Set([503]) : new Set());
}, 180_000);

it('the API killed: accepted comparisons are finished, and a new process answers on the same address', async () => {
  await ready();
  const { body } = await post(used.service, used.pair, { prefer: 'respond-async' });
  await killed('api');
  await ready();
  expect((await finished(used.service, body.id)).caption).toBe(CAPTION);
}, 180_000);

it('the starter itself killed: API, worker and Redis go with it, and all is there at the next start', async () => {
  await ready();
  const { body } = await post(used.service, used.pair, { prefer: 'respond-async' });
  expect(body.status).toMatch(/queued|running|finished/);
  const pids = Object.values(await used.service.processes());
  used.service.process.kill('SIGKILL');
  await used.service.ended;
  await eventually(() => expect(pids.filter(isAlive)).toEqual([]), 30_000);
  used.service = await startService({ dataDir: used.service.dataDir });
  expect((await finished(used.service, body.id)).caption).toBe(CAPTION);
}, 240_000);
