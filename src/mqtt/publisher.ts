/**
 * The publisher: brings what the broker keeps into agreement with the cameras, publishes each alert and each event of a
 * visit once, and carries out the commands of the switches. One loop does all of it, one message after the other, so
 * that a slow broker holds up messages and fills no memory.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Change } from '../schemas/change.js';
import type { StreamEvent } from '../schemas/stream-event.js';
import type { CameraStore } from '../stores/cameras/cameras.js';
import type { ChangeStore } from '../stores/changes/changes.js';
import type { VisitStore } from '../stores/changes/visits.js';
import type { MqttStore, WaitingEvent } from '../stores/delivery/mqtt.js';
import { isUnavailable } from '../stores/redis/redis.js';
import { type Broker, type Connection, Disconnected, MessageRefused } from './broker.js';
import { type CameraView, noteChange, withSuspension } from './camera-view.js';
import { type CameraViews, contextOf } from './camera-views.js';
import { OFF, ON } from './discovery.js';
import { alertMessage, sentenceMessage, visitMessage } from './messages.js';
import type { MqttMetrics } from './metrics.js';
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

interface PublisherDependencies extends PictureSenderDependencies {
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

/** The state of the publisher, for its loop. */
interface Publisher {
  readonly deps: PublisherDependencies;
  /** by the slug of the camera: whether to suspend it */
  readonly commands: Map<string, boolean>;
  /** cameras whose picture the broker no longer has */
  readonly lostPictures: Set<string>;
  readonly sendPictureOf: ReturnType<typeof pictureSender>;
  /** the event that failed last, and how often */
  readonly failed: { id: string; count: number };
  /** Ending it lets the loop go on at once. */
  readonly pause: ReturnType<typeof createPause>;
  connection: Connection | undefined;
  /** epoch ms */
  polledAt: number;
}

export const createPublisher = (deps: PublisherDependencies): Publisher => ({
  deps,
  commands: new Map(),
  lostPictures: new Set(),
  sendPictureOf: pictureSender(deps),
  failed: { id: '', count: 0 },
  pause: createPause(),
  connection: undefined,
  polledAt: Number.NEGATIVE_INFINITY,
});

/** Runs until the signal aborts. Outages of the broker and of Redis are waited for. */
export async function runPublisher(publisher: Publisher, signal: AbortSignal): Promise<void> {
  const { deps, pause } = publisher;
  signal.addEventListener('abort', pause.end, { once: true });
  while (!signal.aborted) {
    try {
      await round(publisher);
    } catch (err) {
      if (signal.aborted) return;
      if (err instanceof Disconnected) {
        deps.logger.warn({ reason: err.message }, 'a message was not confirmed, it is sent again');
      } else {
        // connectRedis logs its outages.
        if (!isUnavailable(err)) deps.logger.error({ err }, 'the publisher cannot go on, trying again');
        publisher.polledAt = Number.NEGATIVE_INFINITY;
        await deps.retained.set(statusTopic(deps.base), OFFLINE).catch(() => {});
      }
      await pause.wait(PAUSE_MS);
    }
  }
}

export function receive(publisher: Publisher, topic: string, payload: Buffer, wasRetained: boolean): void {
  const { deps, commands, pause } = publisher;
  const text = payload.toString('utf8');
  if (topic === deps.birthTopic) {
    if (text !== ONLINE) return;
    deps.logger.info('Home Assistant has started, announcing again');
    deps.retained.forget();
    publisher.polledAt = Number.NEGATIVE_INFINITY;
  } else {
    const slug = cameraOfCommand(deps.base, topic);
    // A retained command would come again with every connection.
    if (slug === undefined || wasRetained || (text !== ON && text !== OFF) || commands.size >= MOST_COMMANDS) {
      const given = { topic, payload: text.slice(0, 64), retained: wasRetained };
      deps.logger.warn(given, 'a command was ignored: expected ON or OFF');
      return;
    }
    commands.set(slug, text === ON);
  }
  pause.end();
}

/** One pass of the loop. @throws Disconnected; ScenedeltaError if the stores cannot be reached */
async function round(publisher: Publisher): Promise<void> {
  const { deps } = publisher;
  await deps.broker.connected(PAUSE_MS);
  const current = deps.broker.connection();
  if (current === undefined) return;
  if (current !== publisher.connection) {
    publisher.connection = current;
    publisher.polledAt = Number.NEGATIVE_INFINITY;
    deps.retained.forget();
    await poll(publisher);
    if (current.isNew) for (const { camera } of deps.views.all()) publisher.lostPictures.add(camera.id);
  }
  if (deps.clock() - publisher.polledAt >= deps.pollMs) await poll(publisher);
  await carryOut(publisher);
  const waiting = await deps.store.head();
  if (waiting !== undefined) return deliverOrDrop(publisher, waiting);
  if (publisher.lostPictures.size > 0) return restorePicture(publisher);
  await publisher.pause.wait(Math.min(PAUSE_MS, deps.pollMs));
}

async function sync({ deps, lostPictures }: Publisher, view: CameraView): Promise<void> {
  if (await deps.retained.sync(view)) lostPictures.add(view.camera.id);
}

async function poll(publisher: Publisher): Promise<void> {
  const { deps } = publisher;
  await deps.views.refresh();
  await deps.retained.removeOthers(deps.views.all());
  for (const view of deps.views.all()) await sync(publisher, view);
  // Last, so that everything is there when the entities become available.
  await deps.retained.set(statusTopic(deps.base), (await deps.isReady()) ? ONLINE : OFFLINE);
  deps.metrics.waiting(await deps.store.waiting());
  publisher.polledAt = deps.clock();
}

async function carryOut(publisher: Publisher): Promise<void> {
  const { deps, commands } = publisher;
  for (const [slug, suspend] of [...commands]) {
    const view = deps.views.bySlug(slug);
    const camera = view && (await deps.cameras.alter(view.camera.id, (stored) => withSuspension(stored, suspend)));
    commands.delete(slug);
    if (view === undefined || camera === undefined) {
      deps.logger.warn({ camera: slug }, 'a command for a camera that does not exist was ignored');
      continue;
    }
    deps.logger.info({ camera_id: camera.id, suspend }, 'alerts of a camera suspended or resumed by MQTT');
    view.camera = camera;
    await sync(publisher, view);
  }
}

/** An event that cannot be delivered although broker and stores are there does not hold up the others. */
async function deliverOrDrop(publisher: Publisher, waiting: WaitingEvent): Promise<void> {
  const { deps } = publisher;
  try {
    await deliver(publisher, waiting);
  } catch (err) {
    if (err instanceof Disconnected || isUnavailable(err)) throw err;
    if (publisher.failed.id !== waiting.id) Object.assign(publisher.failed, { id: waiting.id, count: 0 });
    if (++publisher.failed.count < EVENT_TRIES) throw err;
    deps.logger.error({ err, event: waiting.event }, 'an event could not be published and was dropped');
    deps.metrics.dropped(1);
  }
  await deps.store.done(waiting);
}

async function deliver(publisher: Publisher, waiting: WaitingEvent): Promise<void> {
  const { deps } = publisher;
  const { event } = waiting;
  const view = await deps.views.current(event.camera ?? '');
  // An erased camera has no entities left.
  if (view === undefined) return;
  const { kind, id } = event.subject;
  if (kind === 'visit') {
    const visit = await deps.visits.get(id);
    if (visit === undefined) return;
    const keptSince = await endOf(deps, visit.best.comparison);
    return sendOnce(deps, view, 'visit', visitMessage(event, visit, view.camera, keptSince, deps.links));
  }
  const change = await deps.changes.get(id);
  noteChange(view, id, change, deps.clock());
  // The event of the change comes before its alert, so that an automation finds picture and states current.
  if (event.type.startsWith('alert.')) return sendAlert(deps, view, change, event);
  if (event.type === 'change.opened' || event.type === 'change.escalated') {
    view.sentence = sentenceMessage(event, contextOf(view.camera, change, deps.links.baseUrl));
    if (change !== undefined) await sendPicture(publisher, view, change);
  }
  await sync(publisher, view);
}

/** @returns when the comparison ended, epoch ms; null: it was erased */
async function endOf(deps: PublisherDependencies, comparison: string): Promise<number | null> {
  const finished = (await deps.results.get(comparison))?.comparison.finished_at;
  return finished == null ? null : Date.parse(finished);
}

async function sendAlert(
  deps: PublisherDependencies,
  view: CameraView,
  change: Change | undefined,
  alert: StreamEvent,
): Promise<void> {
  const keptSince = change === undefined ? null : await endOf(deps, change.comparisons.best);
  const context = contextOf(view.camera, change, deps.links.baseUrl);
  await sendOnce(deps, view, 'alert', alertMessage(alert, context, keptSince, deps.links));
}

/** A message that the broker does not keep. */
async function sendOnce(
  deps: PublisherDependencies,
  { camera }: CameraView,
  kind: 'alert' | 'visit',
  payload: string,
): Promise<void> {
  try {
    await deps.broker.publish({ topic: topicsOf(deps.base, camera.id)[kind], payload, retain: false });
    deps.metrics.message(kind, 'sent');
  } catch (thrown) {
    deps.metrics.message(kind, thrown instanceof MessageRefused ? 'refused' : 'failed');
    if (!(thrown instanceof MessageRefused)) throw thrown;
    deps.logger.error({ camera_id: camera.id, kind, reason: thrown.message }, 'the broker refuses a message');
  }
}

async function sendPicture(publisher: Publisher, { camera }: CameraView, change: Change): Promise<void> {
  if (await publisher.sendPictureOf(camera, change, publisher.connection)) publisher.lostPictures.delete(camera.id);
}

async function restorePicture(publisher: Publisher): Promise<void> {
  const { deps } = publisher;
  const [id = ''] = publisher.lostPictures;
  const view = await deps.views.current(id);
  const [change] = view === undefined ? [] : (await deps.changes.list({ camera: id, limit: 1 })).items;
  if (view !== undefined && change !== undefined) await sendPicture(publisher, view, change);
  publisher.lostPictures.delete(id);
}

function createPause() {
  let ending = new AbortController();
  return {
    /** Ends at once if something came since the pause before. */
    async wait(ms: number): Promise<void> {
      await sleep(ms, undefined, { signal: ending.signal }).catch(() => {});
      if (ending.signal.aborted) ending = new AbortController();
    },
    end: () => ending.abort(),
  };
}
