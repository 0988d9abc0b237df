/** The connection to the broker: attempts, confirmations and refusals, against a real broker and against bad ones. */
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { type Broker, createBroker, Disconnected, MessageRefused } from '../../../clients/src/mqtt/broker.js';
import type { Log } from '../../../clients/src/mqtt/log.js';
import { brokerSettings } from '../../../clients/src/mqtt/settings.js';
import { eventually } from '../../helpers/eventually.js';
import { describeWithMosquitto, type Mosquitto, startMosquitto, subscribe } from '../../helpers/mosquitto.js';

let broker: Broker | undefined;
let mosquitto: Mosquitto | undefined;
let home: Awaited<ReturnType<typeof subscribe>> | undefined;
afterEach(async () => {
  await home?.close();
  await broker?.close();
  await mosquitto?.close();
  broker = undefined;
  mosquitto = undefined;
  home = undefined;
});

const connect = async (url: string, login: { username?: string; password?: string } = {}, timeoutMs = 5_000) => {
  const lines: { msg: string; [name: string]: unknown }[] = [];
  const log: Log = (msg, values) => void lines.push({ msg, ...values });
  broker = createBroker({
    settings: await brokerSettings({
      ...{ mqttUrl: url, mqttTopic: 'sd' },
      ...{ mqttUsername: login.username, mqttPassword: login.password },
    }),
    will: { topic: 'sd/status', payload: 'offline', retain: true },
    filters: ['sd/commands'],
    onMessage: () => {},
    log,
    firstRetryMs: 20,
    longestRetryMs: 100,
    timeoutMs,
  });
  return { broker, lines };
};
const message = (bytes: number) => ({ topic: 'sd/x', payload: Buffer.alloc(bytes, 'x'), retain: true });

describeWithMosquitto('a broker', () => {
  it('that is down at first is reached later, and again after it was restarted', async () => {
    mosquitto = await startMosquitto();
    await mosquitto.stop();
    const { broker, lines } = await connect(mosquitto.url);
    await eventually(() =>
      expect(lines).toContainEqual(expect.objectContaining({ msg: expect.stringMatching(/cannot be reached/) })),
    );
    await expect(broker.publish(message(1))).rejects.toThrow(Disconnected);
    for (let i = 0; i < 2; i++) {
      await mosquitto.start();
      await eventually(() => expect(broker.connection()).toMatchObject({ isNew: true }));
      await broker.publish(message(1));
      await mosquitto.stop();
      await eventually(() => expect(broker.connection()).toBeUndefined());
    }
    expect(lines).toContainEqual(expect.objectContaining({ msg: expect.stringMatching(/was lost/) }));
    // Not one line per attempt.
    expect(lines.filter(({ msg }) => /cannot be reached/.test(msg)).length).toBeLessThan(5);
  });

  it('that refuses the login: the log has a clear error, and neither user nor password', async () => {
    mosquitto = await startMosquitto({ login: { username: 'watchman', password: 'geheim' } });
    const url = mosquitto.url.replace('//', '//watchman:falsch@');
    const { broker, lines } = await connect(url);
    await eventually(() =>
      expect(lines).toContainEqual(
        expect.objectContaining({
          msg: expect.stringMatching(/refused user name and password.*MQTT_PASSWORD/),
        }),
      ),
    );
    expect(broker.connection()).toBeUndefined();
    expect(JSON.stringify(lines)).not.toMatch(/watchman|falsch/);
    await broker.close();

    const { broker: allowed } = await connect(mosquitto.url, { username: 'watchman', password: 'geheim' });
    await eventually(() => expect(allowed.connection()).toBeDefined());
  });

  it('that limits its packets: a larger message is refused, and the connection stays', async () => {
    mosquitto = await startMosquitto({ lines: ['max_packet_size 20000'] });
    const { broker, lines } = await connect(mosquitto.url);
    await eventually(() => expect(broker.connection()).toMatchObject({ packetLimit: 20_000 }));
    await expect(broker.publish(message(20_000))).rejects.toThrow(MessageRefused);
    await broker.publish(message(19_900));
    expect(lines.filter(({ msg }) => /was lost/.test(msg))).toEqual([]);
  });

  it('that drops large messages without a word: they are refused after two tries', async () => {
    mosquitto = await startMosquitto({ lines: ['message_size_limit 20000'] });
    const { broker, lines } = await connect(mosquitto.url, {}, 500);
    for (let tries = 0; tries < 2; tries++) {
      await eventually(() => expect(broker.connection()).toBeDefined());
      await expect(broker.publish(message(30_000))).rejects.toThrow(Disconnected);
    }
    await eventually(() => expect(broker.connection()?.packetLimit).toBeLessThanOrEqual(30_020));
    await expect(broker.publish(message(30_000))).rejects.toThrow(MessageRefused);
    await broker.publish(message(19_000));
    expect(lines.map(({ msg }) => msg)).toContain('the broker does not take messages of this size');
  });

  it('keeps commands while the publisher is away, and sends the last will unless it ended in order', async () => {
    mosquitto = await startMosquitto();
    const first = await connect(mosquitto.url);
    await eventually(() => expect(first.broker.connection()).toMatchObject({ isNew: true }));
    await first.broker.close();
    home = await subscribe(mosquitto.url);
    await home.publish('sd/commands', 'ON');
    const received: string[] = [];
    broker = createBroker({
      settings: { url: mosquitto.url, shownUrl: mosquitto.url, clientId: 'scenedelta-sd' },
      will: { topic: 'sd/status', payload: 'offline', retain: true },
      filters: ['sd/commands'],
      onMessage: (_topic, payload) => received.push(payload.toString()),
      log: () => {},
    });
    await eventually(() => expect(received).toEqual(['ON']));
    // The kept command may come before the connection is reported.
    await eventually(() => expect(broker?.connection()).toMatchObject({ isNew: false }));
    expect(home.of('sd/status')).toEqual([]);
  });
});

/** A server that answers each packet by a function of its first byte. */
const fakeBroker = (answer: (socket: Socket, packet: Buffer) => void): Promise<{ server: Server; url: string }> =>
  new Promise((resolve) => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket.on('error', () => {}).on('data', (packet) => answer(socket, packet)));
    });
    server.on('close', () => {
      for (const socket of sockets) socket.destroy();
    });
    server.listen(0, '127.0.0.1', () => {
      resolve({ server, url: `mqtt://127.0.0.1:${(server.address() as { port: number }).port}` });
    });
  });

it('a broker of MQTT 3.1.1 is used with 3.1.1', async () => {
  const versions: number[] = [];
  const { server, url } = await fakeBroker((socket, packet) => {
    const type = (packet[0] ?? 0) >> 4;
    if (type === 1) {
      // The version follows the fixed header and the name "MQTT".
      const version = packet[packet.indexOf('MQTT') + 4] ?? 0;
      versions.push(version);
      socket.write(Buffer.from([0x20, 2, 0, version === 4 ? 0 : 1]));
      if (version !== 4) socket.end();
    } else if (type === 8) {
      socket.write(Buffer.from([0x90, 3, packet[2] ?? 0, packet[3] ?? 0, 1]));
    } else if (type === 3) {
      const id = 2 + 2 + packet.readUInt16BE(2);
      socket.write(Buffer.from([0x40, 2, packet[id] ?? 0, packet[id + 1] ?? 0]));
    }
  });
  const { broker, lines } = await connect(url);
  await eventually(() => expect(broker.connection()).toBeDefined());
  await broker.publish(message(10));
  expect(versions).toEqual([5, 4]);
  expect(lines.map(({ msg }) => msg)).toContain('the broker does not know MQTT 5, trying 3.1.1');
  server.close();
});

it('a broker that confirms nothing: the message fails in time, and another connection is made', async () => {
  let connections = 0;
  const { server, url } = await fakeBroker((socket, packet) => {
    const type = (packet[0] ?? 0) >> 4;
    if (type === 1) {
      connections++;
      socket.write(Buffer.from([0x20, 3, 0, 0, 0]));
    }
    if (type === 8) socket.write(Buffer.from([0x90, 4, packet[2] ?? 0, packet[3] ?? 0, 0, 1]));
  });
  const { broker } = await connect(url, {}, 100);
  await eventually(() => expect(broker.connection()).toBeDefined());
  await expect(broker.publish(message(10))).rejects.toThrow('no confirmation within 100 ms');
  await eventually(() => expect(connections).toBe(2));
  server.close();
});
