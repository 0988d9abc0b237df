/** Receivers of webhooks that hang or answer slowly: as many comparisons are done as without them. */
import type { ServerResponse } from 'node:http';
import { eventually } from '../helpers/eventually.js';
import { type Receiver, startReceiver } from '../helpers/receiver.js';
import { changedPair } from '../helpers/scenes.js';
import { post, type Service, startService } from '../helpers/service.js';

/** More deliveries than a worker has under way for one owner (24); at most 4 of them go to one receiver at a time. */
const RECEIVERS = 8;
const DELIVERIES = 32;
const SLOTS = 24;
const COMPARISONS = 20;
const LIMIT_MS = 120_000;

let service: Service;
let pair: Awaited<ReturnType<typeof changedPair>>;
const receivers: Receiver[] = [];
const open: ServerResponse[] = [];
beforeAll(async () => {
  pair = await changedPair();
  service = await startService({ env: { OUTBOUND_TIMEOUT_MS: '120000' } });
  for (let i = 0; i < RECEIVERS; i++) {
    const isSlow = i % 2 === 0;
    const receiver = await startReceiver((_request, response) => {
      open.push(response);
      // A sign of life without an end: the receiver still works on it.
      if (isSlow) response.writeProcessing();
    });
    receivers.push(receiver);
  }
}, 240_000);
afterAll(async () => {
  for (const receiver of receivers) await receiver.close();
  await service?.stop();
}, 60_000);

/** @returns how many of so many comparisons are finished with their answer */
async function finished(count: number, callbackOf: (i: number) => { callback_url?: string }): Promise<number> {
  let done = 0;
  for (let i = 0; i < count; i++) {
    const { status, body } = await post(service, { ...pair, ...callbackOf(i) }, { prefer: 'wait=60' });
    if (status === 200 && body.status === 'finished') done++;
  }
  return done;
}
const received = () => receivers.reduce((sum, receiver) => sum + receiver.received.length, 0);

it('do not hold up comparisons, and get everything once they answer', async () => {
  const toReceiver = (i: number) => ({ callback_url: `${receivers[i % RECEIVERS]?.url}/hook` });
  expect(await finished(DELIVERIES, toReceiver)).toBe(DELIVERIES);
  await eventually(() => expect(open).toHaveLength(SLOTS), LIMIT_MS);
  expect(await finished(COMPARISONS, () => ({}))).toBe(COMPARISONS);
  // Every one of them was done while all slots of the owner's deliveries were taken.
  expect([received(), open.filter(({ destroyed, writableEnded }) => !destroyed && !writableEnded).length]).toEqual([
    SLOTS,
    SLOTS,
  ]);
  const answering = setInterval(() => {
    for (const response of open) if (!response.writableEnded) response.end();
  }, 20);
  try {
    const ids = () =>
      new Set(receivers.flatMap((receiver) => receiver.received.map(({ headers }) => headers['webhook-id'])));
    await eventually(() => expect(ids().size).toBe(DELIVERIES), LIMIT_MS);
  } finally {
    clearInterval(answering);
  }
}, 600_000);
