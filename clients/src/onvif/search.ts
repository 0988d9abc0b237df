/**
 * ONVIF cameras of the local networks by WS-Discovery: one multicast probe per interface, and the answers of the next
 * seconds.
 */
import { randomUUID } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../failure.js';
import { envelope, listAt, ONVIF, readEnvelope, textAt } from './soap.js';

const GROUP = '239.255.255.250';
const PORT = 3702;
const WAIT_MS = 3_000;
/** Limits of what is read: datagrams of one search, bytes of one, cameras, characters of a text. */
const MOST = { datagrams: 1_000, bytes: 16 * 1024, cameras: 200, text: 128 };

export interface FoundCamera {
  /** as the camera states it, as are model and place; '': not stated */
  readonly name: string;
  readonly model: string;
  readonly place: string;
  /** of its ONVIF service, at the host that sent the answer */
  readonly service: URL;
}

/**
 * @param interfaces IPv4 addresses of this machine, at least one
 * @param options.port of WS-Discovery, except in tests
 * @returns the cameras that answered, by name
 * @throws Failure 'unavailable' if no probe could be sent
 */
export async function searchCameras(
  interfaces: readonly string[],
  options: { waitMs?: number; mostCameras?: number; port?: number } = {},
): Promise<FoundCamera[]> {
  const { waitMs = WAIT_MS, mostCameras = MOST.cameras, port = PORT } = options;
  const answers = await Promise.allSettled(interfaces.map((address) => probe(address, { waitMs, port })));
  if (answers.every(({ status }) => status === 'rejected')) {
    const cause = (answers[0] as PromiseRejectedResult | undefined)?.reason;
    throw new Failure('unavailable', `no probe could be sent from ${interfaces.join(', ')}: ${cause?.message}`, {
      cause,
    });
  }
  const cameras = new Map<string, FoundCamera>();
  for (const { id, text, host } of answers.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))) {
    const read = readEnvelope(text);
    if (!textAt(read, 'Header', 'RelatesTo').endsWith(id)) continue;
    for (const match of listAt(read, 'Body', 'ProbeMatches', 'ProbeMatch')) {
      const key = textAt(match, 'EndpointReference', 'Address');
      const camera = cameraOf(match, host);
      if (camera !== null && key !== '' && cameras.size < mostCameras && !cameras.has(key)) cameras.set(key, camera);
    }
  }
  return [...cameras.values()].sort((one, other) => one.name.localeCompare(other.name, 'en', { numeric: true }));
}

interface Answer {
  /** of the probe */
  readonly id: string;
  readonly text: string;
  /** address that sent it */
  readonly host: string;
}

/** @param address of the interface. @throws Error if it cannot send */
async function probe(address: string, { waitMs, port }: { waitMs: number; port: number }): Promise<Answer[]> {
  const id = randomUUID();
  const answers: Answer[] = [];
  const socket = createSocket('udp4');
  try {
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject);
      socket.on('message', (bytes, from) => {
        const fits = bytes.length <= MOST.bytes && answers.length < MOST.datagrams;
        if (fits) answers.push({ id, text: bytes.toString('utf8'), host: from.address });
      });
      socket.bind(0, address, () => {
        socket.setMulticastInterface(address);
        socket.send(probeOf(id), port, GROUP, (error) => (error === null ? resolve() : reject(error)));
      });
    });
    await sleep(waitMs);
  } finally {
    socket.close();
  }
  return answers;
}

const ADDRESSING = 'http://schemas.xmlsoap.org/ws/2004/08/addressing';
const DISCOVERY = 'http://schemas.xmlsoap.org/ws/2005/04/discovery';
const probeOf = (id: string): string =>
  envelope(
    `<a:To xmlns:a="${ADDRESSING}">urn:schemas-xmlsoap-org:ws:2005:04:discovery</a:To>` +
      `<a:Action xmlns:a="${ADDRESSING}">${DISCOVERY}/Probe</a:Action>` +
      `<a:MessageID xmlns:a="${ADDRESSING}">urn:uuid:${id}</a:MessageID>`,
    `<d:Probe xmlns:d="${DISCOVERY}"><d:Types xmlns:n="${ONVIF}/network/wsdl">n:NetworkVideoTransmitter</d:Types></d:Probe>`,
  );

/** @param host that answered. @returns null: it is no camera, or names no address of its service */
function cameraOf(match: unknown, host: string): FoundCamera | null {
  if (!textAt(match, 'Types').includes('NetworkVideoTransmitter')) return null;
  const service = serviceOf(textAt(match, 'XAddrs'), host);
  if (service === undefined) return null;
  const scopes = textAt(match, 'Scopes').split(/\s+/);
  const scope = (name: string): string => {
    const prefix = `onvif://www.onvif.org/${name}/`;
    const values = scopes.filter((one) => one.startsWith(prefix)).map((one) => plain(one.slice(prefix.length)));
    return values.join(', ').slice(0, MOST.text);
  };
  return { name: scope('name'), model: scope('hardware'), place: scope('location'), service };
}

/** @returns port and path as the camera states them, at the host that answered: no answer leads to another host */
function serviceOf(addresses: string, host: string): URL | undefined {
  const stated = addresses
    .split(/\s+/)
    .filter((text) => /^https?:\/\//.test(text) && URL.canParse(text))
    .map((text) => new URL(text));
  const url = stated.find(({ hostname }) => hostname === host) ?? stated[0];
  if (url === undefined) return undefined;
  url.hostname = host;
  url.username = '';
  url.password = '';
  return url;
}

/** @returns the text of a scope without escapes, control and format characters */
function plain(text: string): string {
  let decoded = text;
  try {
    decoded = decodeURIComponent(text);
  } catch {
    // A lone % is a character as others are.
  }
  return decoded.replace(/\p{C}/gu, '').trim();
}
