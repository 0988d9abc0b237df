import { afterEach, describe, expect, it } from '@jest/globals';
import { request } from 'undici';
import { parseAllowList } from '../../src/outbound/address.js';
import { createGuardedAgent, type GuardedAgent } from '../../src/outbound/guarded-agent.js';
import { type Receiver, startReceiver } from '../helpers/receiver.js';

let agent: GuardedAgent;
let receiver: Receiver;
afterEach(async () => {
  await agent.destroy();
  await receiver?.close();
});

const open = (maxOrigins?: number) => {
  agent = createGuardedAgent({
    allow: parseAllowList(['127.0.0.0/8']),
    timeoutMs: 5_000,
    // Every name resolves to the server of this test.
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    ...(maxOrigins === undefined ? {} : { maxOrigins }),
  });
  return agent;
};

describe('a guarded agent', () => {
  it('keeps the most recently used origins, up to its limit', () => {
    const { dispatcherOf } = open(2);
    const [a, b] = ['http://a.example', 'http://b.example'].map(dispatcherOf);
    expect([dispatcherOf('http://b.example'), dispatcherOf('http://a.example')]).toEqual([b, a]);
    dispatcherOf('http://c.example');
    expect(dispatcherOf('http://a.example')).toBe(a);
    expect(dispatcherOf('http://b.example')).not.toBe(b);
  });

  it('completes running requests to an origin that it retires', async () => {
    let answer = () => {};
    receiver = await startReceiver((_request, response) => {
      answer = () => void response.end('late');
    });
    const { dispatcherOf } = open(1);
    const origin = receiver.url.replace('127.0.0.1', 'a.example');
    const asked = request(origin, { dispatcher: dispatcherOf(new URL(origin).origin) });
    await receiver.count(1);
    for (const name of ['b', 'c']) dispatcherOf(`http://${name}.example`);
    answer();
    expect(await (await asked).body.text()).toBe('late');
  });

  it('aborts running requests when it is destroyed, also to a retired origin', async () => {
    receiver = await startReceiver(() => {});
    const { dispatcherOf, destroy } = open(1);
    const origin = receiver.url.replace('127.0.0.1', 'a.example');
    const asked = request(origin, { dispatcher: dispatcherOf(new URL(origin).origin) });
    await receiver.count(1);
    dispatcherOf('http://b.example');
    const failing = expect(asked).rejects.toThrow(/destroyed|closed/);
    await destroy();
    await failing;
  });

  it('reuses connections for further requests to the same origin', async () => {
    const ports = new Set<number | undefined>();
    receiver = await startReceiver((_request, response) => {
      ports.add(response.socket?.remotePort);
      response.end('x');
    });
    const { dispatcherOf } = open();
    for (const _time of [1, 2, 3, 4, 5]) {
      const { body } = await request(receiver.url, {
        dispatcher: dispatcherOf(new URL(receiver.url).origin),
      });
      await body.text();
    }
    expect(ports.size).toBeLessThan(5);
  });
});
