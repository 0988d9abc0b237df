/**
 * Discovery payload of Home Assistant: one device per camera with its entities, as one message
 * (https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery). Pure.
 */

import type { components } from '../../../openapi/generated/api.js';
import { ALERT_EVENT_TYPES, shownName } from './messages.js';
import type { Announced } from './state.js';
import { slugOf, statusTopic, topicsOf } from './topics.js';

export interface Naming {
  /** MQTT_TOPIC */
  readonly base: string;
  /** MQTT_DISCOVERY_PREFIX */
  readonly prefix: string;
  /** e.g. 'https://cameras.example', without a trailing slash */
  readonly baseUrl: string;
  /** of the service */
  readonly version: string;
}

/** Removed components that stay in the payload, so that a Home Assistant that was off removes them as well. */
const REMOVED_KEPT = 64;
export const ON = 'ON';
export const OFF = 'OFF';
/** Command of a button. */
export const PRESS = 'PRESS';

/** The states of a camera (`overview.state`). */
export const STATES = [
  ...(['live', 'no_frames', 'stuck', 'moved', 'dark', 'blocked', 'covered'] as const),
  ...(['out_of_focus', 'no_signal', 'damaged', 'no_frame_yet'] as const),
] satisfies readonly NonNullable<components['schemas']['Camera']['overview']>['state'][];

type Component = Readonly<Record<string, unknown>> & { readonly platform: string };
/** The part of a camera that its entities depend on. */
type Camera = components['schemas']['Camera'];
type NamedCamera = Pick<Camera, 'id' | 'name' | 'zones' | 'snapshot'>;

/** Zones that a change can lie in. */
export const changeZones = (zones: Camera['zones']): Camera['zones'] => zones.filter(({ type }) => type === 'include');

/** Home Assistant allows [A-Za-z0-9_-] in this level of the topic. */
export const discoveryTopic = ({ base, prefix }: Naming, camera: string): string =>
  `${prefix}/device/${base.replace(/[^A-Za-z0-9_-]/g, '_')}_${slugOf(camera)}/config`;

/** @param earlier components that were announced before, by their keys, with their platforms */
export function discoveryOf(camera: NamedCamera, naming: Naming, earlier: Announced['components'] = {}) {
  const { base, baseUrl, version } = naming;
  const components = componentsOf(camera, base);
  const removed = Object.entries(earlier).filter(([key]) => !(key in components));
  return {
    device: {
      identifiers: [uniqueId(base, camera.id)],
      name: shownName(camera.name, camera.id),
      manufacturer: 'scenedelta',
      model: 'Camera',
      sw_version: version,
      configuration_url: `${baseUrl}/cameras/${camera.id}`,
    },
    origin: { name: 'scenedelta', sw_version: version, support_url: `${baseUrl}/docs` },
    availability: [{ topic: statusTopic(base) }],
    qos: 1,
    components: {
      // A component with its platform alone is removed.
      ...Object.fromEntries(removed.slice(-REMOVED_KEPT).map(([key, platform]) => [key, { platform }])),
      ...components,
    },
  };
}

/** '.' is in no slug, so that different entities have different ids. */
const uniqueId = (base: string, camera: string, ...parts: string[]): string =>
  [base, slugOf(camera), ...parts].join('.');

function componentsOf({ id, zones: all, snapshot }: NamedCamera, base: string): Record<string, Component> {
  const topics = topicsOf(base, id);
  const entity = (platform: string, key: string, name: string, icon: string, options: object): Component => ({
    platform,
    unique_id: uniqueId(base, id, key),
    name,
    icon: `mdi:${icon}`,
    ...options,
  });
  // Nothing is known of the scene while the camera sends no frames.
  const seen = {
    availability: [{ topic: statusTopic(base) }, { topic: topics.availability }],
    availability_mode: 'all',
    payload_on: ON,
    payload_off: OFF,
  };
  const zones = changeZones(all).map((zone) => [
    `zone_${slugOf(zone.id)}`,
    entity('binary_sensor', `zone.${slugOf(zone.id)}`, shownName(zone.name, zone.id), 'vector-polygon', {
      state_topic: topics.zone(zone.id),
      ...seen,
    }),
  ]);
  return {
    alert: entity('event', 'alert', 'Alert', 'bell', { state_topic: topics.alert, event_types: ALERT_EVENT_TYPES }),
    picture: entity('image', 'picture', 'Last change', 'image-frame', {
      image_topic: topics.picture,
      content_type: 'image/jpeg',
    }),
    sentence: entity('sensor', 'sentence', 'Last sentence', 'text', {
      state_topic: topics.sentence,
      value_template: '{{ value_json.state }}',
      json_attributes_topic: topics.sentence,
    }),
    changed: entity('binary_sensor', 'changed', 'Open change', 'image-filter-center-focus', {
      state_topic: topics.changed,
      ...seen,
    }),
    ...Object.fromEntries(zones),
    suspended: entity('switch', 'suspended', 'Suspend alerts', 'bell-off', {
      state_topic: topics.suspended,
      command_topic: topics.suspend,
      payload_on: ON,
      payload_off: OFF,
    }),
    ...(snapshot === null
      ? {}
      : {
          look: entity('button', 'look', 'Look now', 'camera', {
            command_topic: topics.press,
            payload_press: PRESS,
          }),
          looked: entity('sensor', 'looked', 'Last look', 'camera-outline', {
            state_topic: topics.snapshot,
            value_template: '{{ value_json.state }}',
            json_attributes_topic: topics.snapshot,
          }),
        }),
    state: entity('sensor', 'state', 'State', 'cctv', {
      state_topic: topics.state,
      device_class: 'enum',
      options: STATES,
      entity_category: 'diagnostic',
    }),
  };
}
