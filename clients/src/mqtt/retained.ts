/**
 * Retained messages: publishes one if its content differs from the last one, and removes those of cameras and zones
 * that are gone, also after a restart.
 */
import { type Broker, MessageRefused } from './broker.js';
import { type CameraView, retainedStates } from './camera-view.js';
import { discoveryOf, discoveryTopic, type Naming } from './discovery.js';
import type { Log } from './log.js';
import type { Announced, StateFile } from './state.js';
import { topicsOf } from './topics.js';

/** Messages that wait for their confirmation at a time. */
const AT_ONCE = 16;

interface RetainedDependencies {
  readonly broker: Pick<Broker, 'publish'>;
  readonly state: Pick<StateFile, 'announced' | 'saveAnnounced'>;
  readonly naming: Naming;
  readonly clock: () => number;
  readonly log: Log;
}

export type Retained = ReturnType<typeof createRetained>;

export function createRetained({ broker, state, naming, clock, log }: RetainedDependencies) {
  const published = new Map<string, string>();

  /** @throws Disconnected */
  const send = async (topic: string, payload: string | Buffer, expiryS?: number) => {
    try {
      await broker.publish({ topic, payload, retain: true, ...(expiryS === undefined ? {} : { expiryS }) });
    } catch (thrown) {
      if (!(thrown instanceof MessageRefused)) throw thrown;
      log('the broker refuses a message', { topic, reason: thrown.message });
    }
  };
  const sendChanged = async (messages: Iterable<readonly [topic: string, payload: string]>): Promise<void> => {
    const changed = [...messages].filter(([topic, payload]) => published.get(topic) !== payload);
    for (let i = 0; i < changed.length; i += AT_ONCE) {
      const sending = changed.slice(i, i + AT_ONCE).map(async ([topic, payload]) => {
        await send(topic, payload);
        published.set(topic, payload);
      });
      await Promise.all(sending);
    }
  };
  /** An empty payload removes what the broker keeps, and in discovery topics the device. */
  const remove = async (topics: readonly string[]): Promise<void> => {
    for (const topic of topics) {
      await send(topic, '');
      published.delete(topic);
    }
  };

  return {
    /** Everything is published again, for a broker or a Home Assistant that started again. */
    forget: (): void => published.clear(),
    /** @throws Disconnected */
    set: (topic: string, payload: string): Promise<void> => sendChanged([[topic, payload]]),
    /** @param expiryS seconds after which the broker removes it. @throws Disconnected */
    setPicture: (camera: string, jpeg: Buffer, expiryS: number): Promise<void> =>
      send(topicsOf(naming.base, camera).picture, jpeg, expiryS),
    /**
     * Publishes the announcement and the states of a camera.
     * @returns whether the picture was removed, because its privacy mask is out of date
     * @throws Disconnected; Failure
     */
    async sync(view: CameraView): Promise<boolean> {
      const { id } = view.camera;
      const earlier = state.announced().get(id);
      const payload = discoveryOf(view.camera, naming, earlier?.components);
      const states = retainedStates(view, naming.base, clock());
      const { picture } = topicsOf(naming.base, id);
      const record: Announced = {
        mask: maskOf(view.camera),
        discovery: discoveryTopic(naming, id),
        topics: [...states.keys(), picture].sort(),
        components: Object.fromEntries(
          Object.entries(payload.components).map(([key, { platform }]) => [key, platform]),
        ),
      };
      const stale = earlier === undefined ? [] : staleTopics(earlier, record);
      const isNew = JSON.stringify(earlier) !== JSON.stringify(record);
      const isUnmasked = earlier !== undefined && earlier.mask !== record.mask;
      if (isUnmasked) await remove([picture]);
      // Before they are published, so that none is left at the broker after a crash.
      if (isNew) await state.saveAnnounced(id, { ...record, topics: [...record.topics, ...stale] });
      await remove(stale);
      if (stale.length > 0) await state.saveAnnounced(id, record);
      await sendChanged([[record.discovery, JSON.stringify(payload)], ...states]);
      return isUnmasked;
    },
    /** Removes the cameras that are not among these. @throws Disconnected; Failure */
    async removeOthers(views: Iterable<CameraView>): Promise<void> {
      const present = new Set([...views].map(({ camera }) => camera.id));
      for (const [camera, { discovery, topics }] of [...state.announced()]) {
        if (present.has(camera)) continue;
        await remove([discovery, ...topics]);
        await state.saveAnnounced(camera, null);
        log('camera removed from the broker', { camera });
      }
    },
  };
}

/** MQTT_TOPIC and MQTT_DISCOVERY_PREFIX may have changed, and zones may be gone. */
const staleTopics = (earlier: Announced, now: Announced): string[] =>
  [earlier.discovery, ...earlier.topics].filter((topic) => topic !== now.discovery && !now.topics.includes(topic));

/** The privacy zones as a text: a picture from before they changed may show what they hide. */
const maskOf = ({ zones }: CameraView['camera']): string =>
  JSON.stringify(zones.flatMap(({ type, polygon }) => (type === 'privacy' ? [polygon] : [])));
