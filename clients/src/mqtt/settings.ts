/** Settings of the connection to the broker, checked. The password appears in no message. */
import { readFile } from 'node:fs/promises';
import { usage } from '../failure.js';

/** As the options and the environment give them; undefined: not set. */
export interface BrokerEnvironment {
  readonly mqttUrl?: string | undefined;
  readonly mqttUsername?: string | undefined;
  readonly mqttPassword?: string | undefined;
  /** file */
  readonly mqttCa?: string | undefined;
  readonly mqttTopic: string;
}

export interface BrokerSettings {
  /** mqtt://, mqtts://, ws:// or wss://, without user and password */
  readonly url: string;
  /** `url` for logs */
  readonly shownUrl: string;
  /** the same at every start, so that the broker knows what it has kept for this service */
  readonly clientId: string;
  readonly username?: string;
  readonly password?: string;
  /** PEM */
  readonly ca?: Buffer;
}

const EXPECTED = 'expected mqtt://host:port, mqtts://host:port, ws://host:port/path or wss://host:port/path';

/** @throws Failure 'usage' if MQTT_URL is missing or no such address, or MQTT_CA cannot be read */
export async function brokerSettings(config: BrokerEnvironment): Promise<BrokerSettings> {
  const url = parsedUrl(config.mqttUrl);
  const username = config.mqttUsername ?? decodeURIComponent(url.username);
  const password = config.mqttPassword ?? decodeURIComponent(url.password);
  if (password !== '' && username === '') {
    throw usage('MQTT_PASSWORD is set and MQTT_USERNAME is not: expected both');
  }
  url.username = '';
  url.password = '';
  return {
    url: url.href,
    shownUrl: `${url.protocol}//${url.host}${url.pathname}`.replace(/\/$/, ''),
    clientId: `scenedelta-${config.mqttTopic.replace(/\W/g, '-')}`,
    ...(username === '' ? {} : { username }),
    ...(password === '' ? {} : { password }),
    ...(config.mqttCa === undefined ? {} : { ca: await readAuthorities(config.mqttCa) }),
  };
}

function parsedUrl(given: string | undefined): URL {
  if (given === undefined) throw usage(`MQTT_URL is not set: ${EXPECTED}`);
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url !== undefined && /^(mqtts?|wss?):$/.test(url.protocol) && url.hostname !== '' && decodable(url)) return url;
  // Not shown, because it may have a password.
  throw usage(`MQTT_URL is no address of a broker: ${EXPECTED}`);
}

/** Whether user and password are percent-encoded as they should be. */
function decodable({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

async function readAuthorities(file: string): Promise<Buffer> {
  let pem: Buffer;
  try {
    pem = await readFile(file);
  } catch (thrown) {
    throw usage(`MQTT_CA=${JSON.stringify(file)} cannot be read: ${(thrown as Error).message}`);
  }
  if (pem.includes('-----BEGIN CERTIFICATE-----')) return pem;
  throw usage(`MQTT_CA=${JSON.stringify(file)} has no certificate: expected a file in PEM format`);
}
