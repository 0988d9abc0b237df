/** The MQTT publisher beside an API and a broker of the test's own. */
import { brokerSettings } from '../../clients/src/mqtt/settings.js';
import { startPublisher } from '../../clients/src/mqtt/start.js';
import { openState } from '../../clients/src/mqtt/state.js';
import { serviceAt } from '../../clients/src/service.js';

/** @param file of its state */
export const startTestPublisher = async (apiUrl: string, secret: string, mqttUrl: string, file: string) =>
  startPublisher({
    serviceWith: (stop) => serviceAt(apiUrl, `Bearer ${secret}`, stop),
    baseUrl: 'https://cameras.example',
    settings: await brokerSettings({ mqttUrl, mqttTopic: 'sd' }),
    state: await openState(file),
    base: 'sd',
    prefix: 'homeassistant',
    pictureLimit: 100_000,
    log: () => {},
    pollMs: 50,
    retries: { firstRetryMs: 20, longestRetryMs: 100 },
  });
