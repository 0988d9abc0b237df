/** `scenedelta mqtt`: brings changes, pictures and switches of the cameras to an MQTT broker, for Home Assistant. */
import { join } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { createCommand, listenForStop, type ServiceOptions, withService } from '../command.js';
import { baseUrl, bearer, keyOf, serviceAt } from '../service.js';
import { printLog } from './log.js';
import { type BrokerEnvironment, brokerSettings } from './settings.js';
import { startPublisher } from './start.js';
import { openState } from './state.js';

interface Options extends ServiceOptions, BrokerEnvironment {
  readonly publicUrl?: string;
  readonly state: string;
  readonly mqttDiscoveryPrefix: string;
  readonly mqttPictureLimit: number;
}

const MOST_BYTES = 16_777_216;
/** MQTT forbids '+', '#' and NUL in the topic of a message; empty levels are allowed but confuse. */
const TOPIC = /^(?=.{1,128}$)[^+#/\s\0]+(\/[^+#/\s\0]+)*$/;

function topic(text: string): string {
  if (TOPIC.test(text)) return text;
  throw new InvalidArgumentError(
    'expected an MQTT topic of at most 128 characters without +, #, spaces, and / at an end',
  );
}
function bytes(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= MOST_BYTES) return value;
  throw new InvalidArgumentError(`expected bytes, 0 to ${MOST_BYTES}`);
}
/** An empty variable is as none: files of containers cannot leave one out. */
function option(flags: string, variable: string, text: string): Option {
  const made = new Option(flags, `${text} (${variable})`);
  return process.env[variable] ? made.env(variable) : made;
}

export const command = withService(
  createCommand('mqtt')
    .description(
      'Brings changes, pictures, states and switches of the cameras to an MQTT broker, as devices of Home Assistant ' +
        '(docs/home-assistant.md), until it is stopped. Each option is a variable of the environment as well; the ' +
        'password is only one: MQTT_PASSWORD. MQTT_API_KEY takes the place of --key-file.',
    )
    .addOption(option('--mqtt-url <url>', 'MQTT_URL', 'mqtt://, mqtts://, ws:// or wss:// address of the broker'))
    .addOption(option('--mqtt-username <name>', 'MQTT_USERNAME', 'default: the one in the address'))
    .addOption(option('--mqtt-ca <file>', 'MQTT_CA', "PEM of the authorities that sign the broker's certificate"))
    .addOption(
      option('--mqtt-topic <topic>', 'MQTT_TOPIC', 'first levels of all topics; different for each service at a broker')
        .argParser(topic)
        .default('scenedelta'),
    )
    .addOption(
      option('--mqtt-discovery-prefix <topic>', 'MQTT_DISCOVERY_PREFIX', 'discovery prefix of Home Assistant')
        .argParser(topic)
        .default('homeassistant'),
    )
    .addOption(
      option('--mqtt-picture-limit <bytes>', 'MQTT_PICTURE_LIMIT', 'most bytes of a picture; 0: none')
        .argParser(bytes)
        .default(262_144),
    )
    .addOption(option('--public-url <url>', 'PUBLIC_URL', 'address of the console in links; default: --api'))
    .addOption(
      option('--state <file>', 'MQTT_STATE', 'remembers what the broker has confirmed').default(
        join(process.env.DATA_DIR ?? 'data', 'mqtt.json'),
        'mqtt.json in DATA_DIR',
      ),
    ),
  'admin',
).action(async (options: Options) => {
  const base = baseUrl(options.api, '--api');
  const key = bearer(process.env.MQTT_API_KEY || (await keyOf(options.keyFile)));
  const settings = await brokerSettings({ ...options, mqttPassword: process.env.MQTT_PASSWORD || undefined });
  const state = await openState(options.state);
  const { signal, done } = listenForStop();
  printLog('publisher started', { broker: settings.shownUrl, topic: options.mqttTopic });
  const publisher = await startPublisher({
    serviceWith: (stop) => serviceAt(base, key, stop),
    settings,
    state,
    baseUrl: baseUrl(options.publicUrl ?? base, '--public-url'),
    base: options.mqttTopic,
    prefix: options.mqttDiscoveryPrefix,
    pictureLimit: options.mqttPictureLimit,
    log: printLog,
  });
  process.send?.('ready');
  const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  try {
    await Promise.race([publisher.ended, stopped]);
  } finally {
    await publisher.close();
    done();
  }
  // The channel to a parent that started this process would keep it running.
  process.disconnect?.();
});
