/**
 * The publisher: brings what the broker keeps into agreement with the cameras, publishes each alert and each event of a
 * visit once, and carries out the commands of the switches. One loop does all of it, one message after the other, so
 * that a slow broker holds up messages and fills no memory.
 */

import type { Change } from '../schemas/change.js';
import type { AlertEvent } from '../schemas/stream-event.js';
import type { CameraStore } from '../stores/cameras.js';
import type { ChangeStore } from '../stores/changes.js';
import type { MqttStore, WaitingEvent } from '../stores/mqtt.js';
import { isUnavailable } from '../stores/redis.js';
import type { VisitStore } from '../stores/visits.js';
import { type Broker, type Connection, Disconnected, MessageRefused } from './broker.js';
import { type CameraView, noteChange, withSuspension } from './camera-view.js';
import { type CameraViews, contextOf } from './camera-views.js';
import { OFF, ON } from './discovery.js';
import { alertMessage, sentenceMessage, visitMessage } from './messages.js';
import type { MqttMetrics } from './metrics.js';
import { createPause } from './pause.js';
import type { Retained } from './retained.js';
import { type PictureSenderDependencies, pictureSender } from './send-picture.js';
import { cameraOfCommand, statusTopic, topicsOf } from './topics.js';

const ONLINE = 'online';
export const OFFLINE = 'offline';
/** Pause after a failure, and longest wait for something to do. */
const PAUSE_MS = 1_000;
/** Commands that wait; there is one per camera. */
const MOST_COMMANDS = 1_000;
const EVENT_TRIES = 3;

export interface PublisherDependencies extends PictureSenderDependencies {
  readonly broker: Pick<Broker, 'connection' | 'connected' | 'publish'>;
  readonly retained: Retained;
  readonly views: CameraViews;
  readonly store: Pick<MqttStore, 'head' | 'done' | 'waiting'>;
  readonly cameras: Pick<CameraStore, 'alter'>;
  readonly changes: Pick<ChangeStore, 'get' | 'list'>;
  readonly visits: Pick<VisitStore, 'get'>;
  /** whether the service compares frames */
  readonly isReady: () => Promise<boolean>;
  /** MQTT_TOPIC */
  readonly base: string;
  /** topic of the birth message of Home Assistant */
  readonly birthTopic: string;
  /** ms between two readings of the cameras' settings */
  readonly pollMs: number;
  readonly metrics: Pick<MqttMetrics, 'message' | 'waiting' | 'dropped'>;
}

export function createPublisher(deps: PublisherDependencies) {
  const { broker, retained, views, store, base, logger, clock } = deps;
  /** by the slug of the camera: whether to suspend it */
  const commands = new Map<string, boolean>();
  /** cameras whose picture the broker no longer has */
  const lostPictures = new Set<string>();
  const sendPictureOf = pictureSender(deps);
  const failed = { id: '', count: 0 };
  let connection: Connection | undefined;
  let polledAt = Number.NEGATIVE_INFINITY;
  const pause = createPause();

  /** One pass of the loop. @throws Disconnected; ScenedeltaError if the stores cannot be reached */
  const round = async (): Promise<void> => {
    await broker.connected(PAUSE_MS);
    const current = broker.connection();
    if (current === undefined) return;
    if (current !== connection) {
      connection = current;
      polledAt = Number.NEGATIVE_INFINITY;
      retained.forget();
      await poll();
      if (current.isNew) for (const { camera } of views.all()) lostPictures.add(camera.id);
    }
    if (clock() - polledAt >= deps.pollMs) await poll();
    await carryOut();
    const waiting = await store.head();
    if (waiting !== undefined) return deliverOrDrop(waiting);
    if (lostPictures.size > 0) return restorePicture();
    await pause.wait(Math.min(PAUSE_MS, deps.pollMs));
  };

  const sync = async (view: CameraView): Promise<void> => {
    if (await retained.sync(view)) lostPictures.add(view.camera.id);
  };

  const poll = async (): Promise<void> => {
    await views.refresh();
    await retained.removeOthers(views.all());
    for (const view of views.all()) await sync(view);
    // Last, so that everything is there when the entities become available.
    await retained.set(statusTopic(base), (await deps.isReady()) ? ONLINE : OFFLINE);
    deps.metrics.waiting(await store.waiting());
    polledAt = clock();
  };

  const carryOut = async (): Promise<void> => {
    for (const [slug, suspend] of [...commands]) {
      const view = views.bySlug(slug);
      const camera = view && (await deps.cameras.alter(view.camera.id, (stored) => withSuspension(stored, suspend)));
      commands.delete(slug);
      if (view === undefined || camera === undefined) {
        logger.warn({ camera: slug }, 'a command for a camera that does not exist was ignored');
        continue;
      }
      logger.info({ camera_id: camera.id, suspend }, 'alerts of a camera suspended or resumed by MQTT');
      view.camera = camera;
      await sync(view);
    }
  };

  /** An event that cannot be delivered although broker and stores are there does not hold up the others. */
  const deliverOrDrop = async (waiting: WaitingEvent): Promise<void> => {
    try {
      await deliver(waiting);
    } catch (err) {
      if (err instanceof Disconnected || isUnavailable(err)) throw err;
      if (failed.id !== waiting.id) Object.assign(failed, { id: waiting.id, count: 0 });
      if (++failed.count < EVENT_TRIES) throw err;
      logger.error({ err, event: waiting.event }, 'an event could not be published and was dropped');
      deps.metrics.dropped(1);
    }
    await store.done(waiting);
  };

  const deliver = async (waiting: WaitingEvent): Promise<void> => {
    const { event } = waiting;
    const view = await views.current(event.camera);
    // An erased camera has no entities left.
    if (view === undefined) return;
    if ('visit' in event) {
      const visit = await deps.visits.get(event.visit);
      if (visit === undefined) return;
      const keptSince = await endOf(visit.best.comparison);
      return sendOnce(view, 'visit', visitMessage(event, visit, view.camera, keptSince, deps.links));
    }
    const change = await deps.changes.get(event.changeId);
    noteChange(view, event.changeId, change, clock());
    // The event of the change comes before its alert, so that an automation finds picture and states current.
    if ('alertId' in event) return sendAlert(view, change, event);
    if (event.type === 'change.opened' || event.type === 'change.escalated') {
      view.sentence = sentenceMessage(event, contextOf(view.camera, change, deps.links.baseUrl));
      if (change !== undefined) await sendPicture(view, change);
    }
    await sync(view);
  };

  /** @returns when the comparison ended, epoch ms; null: it was erased */
  const endOf = async (comparison: string): Promise<number | null> => {
    const finished = (await deps.results.get(comparison))?.comparison.finished_at;
    return finished == null ? null : Date.parse(finished);
  };

  const sendAlert = async (view: CameraView, change: Change | undefined, alert: AlertEvent): Promise<void> => {
    const keptSince = change === undefined ? null : await endOf(change.comparisons.best);
    const context = contextOf(view.camera, change, deps.links.baseUrl);
    await sendOnce(view, 'alert', alertMessage(alert, context, keptSince, deps.links));
  };

  /** A message that the broker does not keep. */
  const sendOnce = async ({ camera }: CameraView, kind: 'alert' | 'visit', payload: string): Promise<void> => {
    try {
      await broker.publish({ topic: topicsOf(base, camera.id)[kind], payload, retain: false });
      deps.metrics.message(kind, 'sent');
    } catch (thrown) {
      deps.metrics.message(kind, thrown instanceof MessageRefused ? 'refused' : 'failed');
      if (!(thrown instanceof MessageRefused)) throw thrown;
      logger.error({ camera_id: camera.id, kind, reason: thrown.message }, 'the broker refuses a message');
    }
  };

  const sendPicture = async ({ camera }: CameraView, change: Change): Promise<void> => {
    if (await sendPictureOf(camera, change, connection)) lostPictures.delete(camera.id);
  };

  const restorePicture = async (): Promise<void> => {
    const [id = ''] = lostPictures;
    const view = await views.current(id);
    const [change] = view === undefined ? [] : (await deps.changes.list({ camera: id, limit: 1 })).items;
    if (view !== undefined && change !== undefined) await sendPicture(view, change);
    lostPictures.delete(id);
  };

  return {
    /** Runs until the signal aborts. Outages of the broker and of Redis are waited for. */
    async run(signal: AbortSignal): Promise<void> {
      signal.addEventListener('abort', pause.end, { once: true });
      while (!signal.aborted) {
        try {
          await round();
        } catch (err) {
          if (signal.aborted) return;
          if (err instanceof Disconnected) {
            logger.warn({ reason: err.message }, 'a message was not confirmed, it is sent again');
          } else {
            // connectRedis logs its outages.
            if (!isUnavailable(err)) logger.error({ err }, 'the publisher cannot go on, trying again');
            polledAt = Number.NEGATIVE_INFINITY;
            await retained.set(statusTopic(base), OFFLINE).catch(() => {});
          }
          await pause.wait(PAUSE_MS);
        }
      }
    },
    /** Something waits: the loop goes on at once. */
    wake: pause.end,
    /** Takes a message of a subscribed topic. */
    receive(topic: string, payload: Buffer, wasRetained: boolean): void {
      const text = payload.toString('utf8');
      if (topic === deps.birthTopic) {
        if (text !== ONLINE) return;
        logger.info('Home Assistant has started, announcing again');
        retained.forget();
        polledAt = Number.NEGATIVE_INFINITY;
      } else {
        const slug = cameraOfCommand(base, topic);
        // A retained command would come again with every connection.
        if (slug === undefined || wasRetained || (text !== ON && text !== OFF) || commands.size >= MOST_COMMANDS) {
          logger.warn(
            { topic, payload: text.slice(0, 64), retained: wasRetained },
            'a command was ignored: expected ON or OFF',
          );
          return;
        }
        commands.set(slug, text === ON);
      }
      pause.end();
    },
  };
}
