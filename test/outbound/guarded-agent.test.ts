import { afterEach, describe, expect, it } from '@jest/globals';
import { parseAllowList } from '../../src/outbound/address.js';
import { createGuardedAgent, type GuardedAgent } from '../../src/outbound/guarded-agent.js';
import { drop, readUpTo } from '../../src/process/http-exchange.js';
import { type Receiver, startReceiver } from '../helpers/receiver.js';

let agent: GuardedAgent;
let receiver: Receiver;
afterEach(async () => {
  agent.close();
  await receiver?.close();
});

const open = () => {
  agent = createGuardedAgent({
    allow: parseAllowList(['127.0.0.0/8']),
    timeoutMs: 5_000,
    // Every name resolves to the server of this test.
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  });
  return agent;
};

describe('a guarded agent', () => {
  it('reaches an allowed address by its name', async () => {
    receiver = await startReceiver((_request, response) => void response.end('found'));
    const url = new URL(receiver.url.replace('127.0.0.1', 'a.example'));
    const answer = await open().request(url, { headers: {} });
    expect(String(await readUpTo(answer, 100))).toBe('found');
  });

  it.each(['http://10.0.0.1/', 'http://[::1]/'])('refuses the literal address %s', async (address) => {
    await expect(open().request(new URL(address), { headers: {} })).rejects.toMatchObject({ code: 'url-refused' });
  });

  it('aborts running requests when it is closed, and starts no other one', async () => {
    receiver = await startReceiver(() => {});
    const { request, close } = open();
    const url = new URL(receiver.url);
    const failing = expect(request(url, { headers: {} })).rejects.toThrow();
    await receiver.count(1);
    close();
    await failing;
    await expect(request(url, { headers: {} })).rejects.toThrow(/closed/);
  });

  it('reuses connections for further requests to the same origin', async () => {
    const ports = new Set<number | undefined>();
    receiver = await startReceiver((_request, response) => {
      ports.add(response.socket?.remotePort);
      response.end('x');
    });
    const { request } = open();
    for (const _time of [1, 2, 3, 4, 5]) await drop(await request(new URL(receiver.url), { headers: {} }));
    expect(ports.size).toBeLessThan(5);
  });

  it('gives a name a reserved port only if all of its addresses are allowed there', async () => {
    const target = new URL('http://camera.example:88/');
    const connect = (entries: string[], addresses: string[]) => {
      agent = createGuardedAgent({
        allow: parseAllowList(entries),
        timeoutMs: 300,
        resolve: async () => addresses.map((address) => ({ address, family: 4 })),
      });
      return agent.request(target, { headers: {} }).catch((thrown) => thrown);
    };
    for (const addresses of [['8.8.8.8'], ['127.0.0.1', '8.8.8.8'], ['127.0.0.2']]) {
      expect(await connect(['127.0.0.1:88'], addresses)).toMatchObject({
        message: expect.stringContaining('no address'),
      });
    }
    expect(await connect(['127.0.0.1:88'], ['127.0.0.1'])).toMatchObject({ code: 'ECONNREFUSED' });
  });
});
