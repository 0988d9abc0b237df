/** Names, discovery payloads and messages of the publisher. */
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { type Camera, isOpen, isSuspended } from '../../../clients/src/mqtt/camera-view.js';
import { discoveryOf, discoveryTopic, STATES } from '../../../clients/src/mqtt/discovery.js';
import { ALERT_EVENT_TYPES, alertMessage, sentenceMessage, shownName } from '../../../clients/src/mqtt/messages.js';
import { brokerSettings } from '../../../clients/src/mqtt/settings.js';
import { commandOf, slugOf, topicsOf } from '../../../clients/src/mqtt/topics.js';
import { HEALTH_STATES } from '../../../src/camera/settings/health.js';
import { checkSettings } from '../../../src/camera/settings/settings.js';
import { streamEvent } from '../../../src/schemas/stream-event.js';

const NAMING = { base: 'scenedelta', prefix: 'homeassistant', baseUrl: 'https://cameras.example', version: '1.0.0' };
const POLYGON = [
  [0, 0],
  [1, 0],
  [1, 1],
];
const HOSTILE = ['a/b+c/#', '💥👩‍👩‍👧', '<img src=x onerror=alert(1)>', '{{ states }}', 'x'.repeat(128), '\ud800', ' '];
const camera = (change: object = {}, id = 'gate') => ({ id, ...checkSettings(change) }) as never as Camera;
const zone = (id: string, name: string | null = null, type = 'include') => ({ id, name, type, polygon: POLYGON });

/**
 * The rules of Home Assistant for a device payload, written from its documentation: required keys, allowed platforms,
 * the keys that each platform requires, and topics without wildcards.
 */
const topic = { type: 'string', pattern: '^[^+#\\u0000]+$', maxLength: 65_535 };
const COMPONENT = {
  type: 'object',
  required: ['platform', 'unique_id'],
  properties: {
    platform: { enum: ['event', 'image', 'sensor', 'binary_sensor', 'switch'] },
    unique_id: { type: 'string', minLength: 1 },
    name: { type: 'string', minLength: 1 },
    icon: { type: 'string', pattern: '^[\\w-]+:[\\w-]+$' },
    ...{ state_topic: topic, command_topic: topic, image_topic: topic, json_attributes_topic: topic },
    entity_category: { enum: ['config', 'diagnostic'] },
    availability: { type: 'array', items: { type: 'object', required: ['topic'], properties: { topic } } },
    availability_mode: { enum: ['all', 'any', 'latest'] },
  },
  allOf: [
    { platform: 'event', required: ['state_topic', 'event_types'] },
    { platform: 'image', required: ['image_topic'] },
    { platform: 'sensor', required: ['state_topic'] },
    { platform: 'binary_sensor', required: ['state_topic'] },
    { platform: 'switch', required: ['command_topic'] },
  ].map(({ platform, required }) => ({
    if: { properties: { platform: { const: platform } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required },
  })),
};
const REMOVED = { type: 'object', required: ['platform'], properties: { platform: {} }, additionalProperties: false };
const isValid = new Ajv({ allErrors: true, strict: false }).compile({
  type: 'object',
  required: ['device', 'origin', 'components'],
  properties: {
    device: {
      type: 'object',
      required: ['identifiers', 'name'],
      properties: {
        identifiers: { type: 'array', minItems: 1, items: { type: 'string' } },
        name: { type: 'string', minLength: 1 },
        configuration_url: { type: 'string', pattern: '^https?://[^/]+' },
      },
    },
    origin: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
    components: { type: 'object', additionalProperties: { anyOf: [COMPONENT, REMOVED] } },
  },
});

it.each<readonly [string, ReturnType<typeof camera>]>([
  ['without zones', camera()],
  ['with zones', camera({ name: 'Gate', zones: [zone('bay.2', 'Bay 2'), zone('street', null, 'ignore')] }, 'gate.3')],
  ...HOSTILE.map((name) => [`named ${JSON.stringify(name)}`, camera({ name, zones: [zone('z', name)] })] as const),
])('a camera %s is announced by the rules of Home Assistant', (_what, given) => {
  const payload = JSON.parse(JSON.stringify(discoveryOf(given, NAMING, { zone_old: 'binary_sensor' })));
  isValid(payload);
  expect(isValid.errors).toBeNull();
  expect(discoveryTopic(NAMING, given.id)).toMatch(/^homeassistant\/device\/[a-zA-Z0-9_-]+\/config$/);
  // Templates are not made from names.
  const templates = Object.entries(payload.components).flatMap(
    ([, one]) => (one as Record<string, string>).value_template ?? [],
  );
  expect(templates).toEqual(['{{ value_json.state }}']);
});

it('the check of the rules refuses a payload that breaks them', () => {
  const { origin: _origin, ...without } = discoveryOf(camera(), NAMING);
  expect(isValid(without)).toBe(false);
  const { state_topic: _topic, ...event } = discoveryOf(camera(), NAMING).components.alert as Record<string, unknown>;
  expect(isValid({ ...discoveryOf(camera(), NAMING), components: { event } })).toBe(false);
});

it('keeps removed components with their platform, at most 64 of them, and only zones that changes can lie in', () => {
  const earlier = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`zone_${i}`, 'binary_sensor']));
  const zones = [zone('1'), zone('street', null, 'ignore'), zone('yard', null, 'privacy')];
  const { components } = discoveryOf(camera({ zones }), NAMING, earlier);
  const removed = Object.values(components).filter((one) => Object.keys(one).length === 1);
  expect(removed).toHaveLength(64);
  expect(components).toHaveProperty('zone_99', { platform: 'binary_sensor' });
  expect(Object.keys(components.zone_1 ?? {})).toContain('unique_id');
  expect(Object.keys(components)).not.toContain('zone_street');
});

it('different ids have different slugs, topics and unique ids, in the characters that are allowed', () => {
  const id = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,12}$/);
  fc.assert(
    fc.property(id, id, (a, b) => {
      expect(slugOf(a)).toMatch(/^[A-Za-z0-9_-]+$/);
      expect(commandOf('sd', topicsOf('sd', a).suspend)).toEqual({ name: 'suspend', slug: slugOf(a) });
      expect(commandOf('sd', topicsOf('sd', a).press)).toEqual({ name: 'snapshot', slug: slugOf(a) });
      expect(slugOf(a) === slugOf(b)).toBe(a === b);
      // The slug of an id is no id whose slug is the same.
      expect(slugOf(slugOf(a)) === slugOf(a)).toBe(slugOf(a) === a);
    }),
  );
  const ids = ['gate', 'gate_zone', 'gate.zone', 'gate_zone_b'].flatMap((name) => {
    const { components } = discoveryOf(camera({ zones: [zone('b'), zone('zone_b'), zone('zone.b')] }, name), NAMING);
    return Object.values(components).map((one) => ('unique_id' in one ? one.unique_id : null));
  });
  expect(new Set(ids).size).toBe(ids.length);
});

const ALERT = streamEvent({
  ...{ type: 'alert.opened', subject: { kind: 'change', id: 'chg_1' }, camera: 'gate', zone: 'z', kind: 'appear' },
  ...{ severity: 'high', at: '2026-06-01T12:00:00.000Z', data: { alert: 'alr_1' } },
});

it('messages carry hostile texts as JSON, and a state has at most 255 characters', () => {
  for (const caption of [...HOSTILE, '🚚'.repeat(300)]) {
    const named = { id: 'gate', name: caption, zones: [zone('z', caption) as never] };
    const erased = { change: undefined, pictures: undefined, baseUrl: '' };
    const sentence = JSON.parse(sentenceMessage({ ...ALERT, caption }, named, undefined, ''));
    expect(sentence.sentence).toBe(caption);
    expect([...sentence.state].length).toBeLessThanOrEqual(255);
    const alert = JSON.parse(alertMessage({ ...ALERT, caption }, named, erased));
    expect(alert).toMatchObject({ event_type: 'opened', id: 'alr_1', zone_name: shownName(caption, 'z') });
    expect(alert).not.toHaveProperty('frame_after');
  }
  expect(shownName('\u0000\n\ud800', 'gate')).toBe('gate');
  expect(shownName(null, 'gate')).toBe('gate');
});

it('a change is open until it reverts or settles; with previous until a background would contain it', () => {
  const confirmed_at = '2026-06-01T12:00:00.000Z';
  const at = (hours: number) => Date.parse(confirmed_at) + hours * 3_600_000;
  const change = { status: 'persisting' as const, zone: null, regions: [], confirmed_at, settled_at: null };
  const [previous, learned] = ['previous', 'memory'].map((before) => camera({ before }));
  if (previous === undefined || learned === undefined) throw new Error('two settings in, two out');
  expect(isOpen(change, learned, at(100))).toBe(true);
  expect(isOpen({ ...change, status: 'acknowledged' }, learned, at(1))).toBe(true);
  expect(isOpen({ ...change, status: 'reverted' }, learned, at(1))).toBe(false);
  expect(isOpen({ ...change, settled_at: confirmed_at }, learned, at(1))).toBe(false);
  expect(isOpen({ ...change, settled_at: confirmed_at }, previous, at(3.9))).toBe(true);
  expect(isOpen({ ...change, settled_at: confirmed_at }, previous, at(4))).toBe(false);
});

it('a suspension ends at its time', () => {
  const until = Date.parse('2026-06-01T12:00:00Z');
  expect(isSuspended({ suspend_until: '2026-06-01T12:00:00Z' }, until - 1)).toBe(true);
  expect(isSuspended({ suspend_until: '2026-06-01T12:00:00Z' }, until)).toBe(false);
  expect(isSuspended({ suspend_until: null }, until)).toBe(false);
});

it('the states of a camera are those of the service', () => expect([...STATES]).toEqual([...HEALTH_STATES]));

describe('MQTT_URL', () => {
  const settings = (mqttUrl: string | undefined, change: object = {}) =>
    brokerSettings({ mqttUrl, mqttTopic: 'a/b', ...change });
  it('gives address, login and a client id', async () => {
    expect(await settings('mqtts://watch%40man:ge%3Aheim@broker.example:8883')).toEqual({
      ...{ url: 'mqtts://broker.example:8883', shownUrl: 'mqtts://broker.example:8883' },
      ...{ clientId: 'scenedelta-a-b', username: 'watch@man', password: 'ge:heim' },
    });
    const given = await settings('wss://a:b@broker.example/mqtt', { mqttUsername: 'c', mqttPassword: 'd' });
    expect(given).toMatchObject({ url: 'wss://broker.example/mqtt', username: 'c', password: 'd' });
  });
  it.each([undefined, 'http://broker.example', 'mqtt://', 'broker:1883', 'mqtt://watchman:geheim@', 'mqtt://a:%zz@b'])(
    '%j is refused with the expectation and without a password',
    async (url) => {
      const message = await settings(url).then(String, (error: Error) => error.message);
      expect(message).toMatch(/^MQTT_URL.*expected mqtt:\/\/host:port/);
      expect(message).not.toMatch(/watchman|geheim|%zz/);
    },
  );
  it('refuses a password without a user, and a file of authorities that is none', async () => {
    await expect(settings('mqtt://b', { mqttPassword: 'x' })).rejects.toThrow('MQTT_USERNAME is not: expected both');
    await expect(settings('mqtt://b', { mqttCa: '/nowhere.pem' })).rejects.toThrow(
      /MQTT_CA="\/nowhere.pem" cannot be read/,
    );
    await expect(settings('mqtt://b', { mqttCa: 'package.json' })).rejects.toThrow(
      /has no certificate: expected a file in PEM/,
    );
  });
});

it('docs/home-assistant.md lists the types of events and the states of a camera', () => {
  const page = readFileSync('docs/home-assistant.md', 'utf8');
  const listed = (values: readonly string[]) => values.map((value) => `\`${value}\``).join(', ');
  expect(page).toContain(`one event per alert: ${listed(ALERT_EVENT_TYPES)} |`);
  expect(page).toContain(`| State | ${listed(HEALTH_STATES)} |`);
});
