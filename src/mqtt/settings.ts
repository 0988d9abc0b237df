/** Settings of the connection to the broker, checked. The password appears in no message. */
import { readFile } from 'node:fs/promises';
import { invalidRequest } from '../base/errors.js';
import { originAndPath, withoutSecrets } from '../base/redact-url.js';
import type { Config } from '../process/config.js';

type MqttConfig = Pick<Config, 'mqttUrl' | 'mqttUsername' | 'mqttPassword' | 'mqttCa' | 'mqttTopic'>;

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

/** @throws ScenedeltaError 'invalid-request' if MQTT_URL is missing or no such address, or MQTT_CA cannot be read */
export async function brokerSettings(config: MqttConfig): Promise<BrokerSettings> {
  const url = parsedUrl(config.mqttUrl);
  const username = config.mqttUsername ?? decodeURIComponent(url.username);
  const password = config.mqttPassword ?? decodeURIComponent(url.password);
  if (password !== '' && username === '') {
    throw refused('MQTT_PASSWORD', 'MQTT_PASSWORD is set and MQTT_USERNAME is not: expected both');
  }
  url.username = '';
  url.password = '';
  return {
    url: url.href,
    shownUrl: originAndPath(url),
    clientId: `scenedelta-${config.mqttTopic.replace(/\W/g, '-')}`,
    ...(username === '' ? {} : { username }),
    ...(password === '' ? {} : { password }),
    ...(config.mqttCa === null ? {} : { ca: await readAuthorities(config.mqttCa) }),
  };
}

function parsedUrl(given: string | null): URL {
  if (given === null) throw refused('MQTT_URL', `MQTT_URL is not set: ${EXPECTED}`);
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url !== undefined && /^(mqtts?|wss?):$/.test(url.protocol) && url.hostname !== '' && decodable(url)) return url;
  throw refused('MQTT_URL', `MQTT_URL=${JSON.stringify(withoutSecrets(given))}: ${EXPECTED}`);
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
    throw refused('MQTT_CA', `MQTT_CA=${JSON.stringify(file)} cannot be read: ${(thrown as Error).message}`);
  }
  if (pem.includes('-----BEGIN CERTIFICATE-----')) return pem;
  throw refused('MQTT_CA', `MQTT_CA=${JSON.stringify(file)} has no certificate: expected a file in PEM format`);
}

const refused = (field: string, message: string) => invalidRequest(message, field);
