/**
 * ONVIF cameras of the local networks by WS-Discovery: one multicast probe per network that OUTBOUND_ALLOW names, and
 * the answers that come within a few seconds. Nothing is sent to an address that an answer names.
 */
import { randomUUID } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { ScenedeltaError } from '../base/errors.js';
import { type AllowList, bareHost, checkUrlSyntax, namesSomeOf } from './address.js';
import { envelope, listAt, ONVIF, readEnvelope, textAt } from './soap.js';

const GROUP = '239.255.255.250';
const PORT = 3702;
const WAIT_MS = 3_000;
/** Limits of what is read: datagrams of one search, bytes of one, cameras, addresses of one camera, characters. */
const MOST = { datagrams: 1_000, bytes: 16 * 1024, cameras: 200, addresses: 8, text: 128 };

export interface FoundCamera {
  readonly name: string;
  readonly hardware: string;
  readonly location: string;
  /** of its ONVIF service, each allowed and a literal address */
  readonly addresses: string[];
  /** hosts that it names and that OUTBOUND_ALLOW does not allow */
  readonly refused: string[];
}

/**
 * @param options.allow without public addresses: a camera of the network has none
 * @param options.port of WS-Discovery, except in tests
 * @returns the cameras that answered, by name
 * @throws ScenedeltaError 'url-refused' if the list names no network of this machine, 'url-unavailable' if no probe
 *   could be sent
 */
export async function discoverCameras(options: {
  allow: AllowList;
  waitMs?: number;
  mostCameras?: number;
  port?: number;
}): Promise<FoundCamera[]> {
  const { allow, waitMs = WAIT_MS, mostCameras = MOST.cameras, port = PORT } = options;
  const all = Object.values(networkInterfaces())
    .flatMap((found) => found ?? [])
    .filter(({ family, cidr }) => family === 'IPv4' && cidr !== null);
  const searched = all.filter(({ cidr }) => namesSomeOf(allow, cidr ?? ''));
  if (searched.length === 0) {
    const given = all.map(({ cidr }) => cidr).join(', ');
    throw new ScenedeltaError('url-refused', `the networks of the worker are ${given}, expected one in OUTBOUND_ALLOW`);
  }
  const found = new Map<string, FoundCamera>();
  const answers = await Promise.allSettled(searched.map(({ address }) => probe(address, { waitMs, port })));
  if (answers.every(({ status }) => status === 'rejected')) {
    const cause = (answers[0] as PromiseRejectedResult).reason;
    throw new ScenedeltaError('url-unavailable', 'no probe could be sent to the network of the cameras', { cause });
  }
  for (const { id, text } of answers.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))) {
    const read = await readEnvelope(text);
    if (!textAt(read, 'Header', 'RelatesTo').endsWith(id)) continue;
    for (const match of listAt(read, 'Body', 'ProbeMatches', 'ProbeMatch')) {
      const key = textAt(match, 'EndpointReference', 'Address');
      const isCamera = textAt(match, 'Types').includes('NetworkVideoTransmitter');
      if (isCamera && key !== '' && found.size < mostCameras && !found.has(key)) found.set(key, cameraOf(match, allow));
    }
  }
  return [...found.values()].sort((one, other) => one.name.localeCompare(other.name, 'en', { numeric: true }));
}

/**
 * @param address of the interface
 * @returns the datagrams that came, with the id of the probe. @throws Error if it cannot send
 */
async function probe(
  address: string,
  { waitMs, port }: { waitMs: number; port: number },
): Promise<{ id: string; text: string }[]> {
  const id = randomUUID();
  const answers: { id: string; text: string }[] = [];
  const socket = createSocket('udp4');
  try {
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject);
      socket.on('message', (bytes) => {
        const fits = bytes.length <= MOST.bytes && answers.length < MOST.datagrams;
        if (fits) answers.push({ id, text: bytes.toString('utf8') });
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

const DISCOVERY = 'http://schemas.xmlsoap.org/ws/2005/04/discovery';
const probeOf = (id: string): string =>
  envelope(
    '<a:To xmlns:a="http://schemas.xmlsoap.org/ws/2004/08/addressing">urn:schemas-xmlsoap-org:ws:2005:04:discovery</a:To>' +
      `<a:Action xmlns:a="http://schemas.xmlsoap.org/ws/2004/08/addressing">${DISCOVERY}/Probe</a:Action>` +
      `<a:MessageID xmlns:a="http://schemas.xmlsoap.org/ws/2004/08/addressing">urn:uuid:${id}</a:MessageID>`,
    `<d:Probe xmlns:d="${DISCOVERY}"><d:Types xmlns:n="${ONVIF}/network/wsdl">n:NetworkVideoTransmitter</d:Types></d:Probe>`,
  );

function cameraOf(match: unknown, allow: AllowList): FoundCamera {
  const scopes = textAt(match, 'Scopes').split(/\s+/);
  const scope = (name: string): string => {
    const prefix = `onvif://www.onvif.org/${name}/`;
    const values = scopes.filter((one) => one.startsWith(prefix)).map((one) => plain(one.slice(prefix.length)));
    return values.join(', ').slice(0, MOST.text);
  };
  const addresses: string[] = [];
  const refused = new Set<string>();
  for (const text of textAt(match, 'XAddrs').split(/\s+/).slice(0, MOST.addresses)) {
    if (!/^https?:\/\//.test(text) || !URL.canParse(text)) continue;
    try {
      addresses.push(checkLiteral(text, allow).href);
    } catch {
      refused.add(bareHost(new URL(text).hostname).slice(0, MOST.text));
    }
  }
  return {
    ...{ name: scope('name'), hardware: scope('hardware'), location: scope('location') },
    ...{ addresses, refused: [...refused] },
  };
}

/** @throws ScenedeltaError 'url-refused' also for a name, which could lead anywhere */
function checkLiteral(text: string, allow: AllowList): URL {
  const url = checkUrlSyntax(text, { allow, field: 'url' });
  if (!/^\[|^\d+(\.\d+){3}$/.test(url.hostname)) throw new ScenedeltaError('url-refused', 'expected an address');
  return url;
}

/** @returns the text of a scope without escapes, control and format characters */
function plain(text: string): string {
  let decoded = text;
  try {
    decoded = decodeURIComponent(text);
  } catch {
    // A lone % is a sign like others.
  }
  return decoded.replace(/\p{C}/gu, '').trim();
}
