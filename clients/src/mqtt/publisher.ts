/**
 * The publisher: brings what the broker keeps into agreement with the cameras, publishes each alert and each event of a
 * visit once, and carries out the commands of the switches. One loop does all of it, one message after the other, so
 * that a slow broker holds up messages and fills no memory.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReceivedEvent } from '../events.js';
import { Failure } from '../failure.js';
import { ok, type Service } from '../service.js';
import { type Broker, type Connection, Disconnected, MessageRefused } from './broker.js';
import { type CameraView, type Change, FOR_EVER, noteChange } from './camera-view.js';
import { type CameraViews, inLanguageOf, orMissing } from './camera-views.js';
import { OFF, ON, PRESS } from './discovery.js';
import type { Log } from './log.js';
import { alertMessage, healthMessage, isAbout, isPublished, sentenceMessage, visitMessage } from './messages.js';
import { createPause } from './pause.js';
import { readPicture } from './picture.js';
import type { Retained } from './retained.js';
import { createSnapshots, type Snapshots } from './snapshots.js';
import type { StateFile } from './state.js';
import { commandOf, statusTopic, topicsOf } from './topics.js';

const ONLINE = 'online';
export const OFFLINE = 'offline';
/** Pause after a failure, and longest wait for something to do. */
const PAUSE_MS = 1_000;
/** Commands that wait; there is one per camera. */
const MOST_COMMANDS = 1_000;
/** Events that wait in memory; the stream of the service keeps further ones. */
const MOST_WAITING = 10_000;
const EVENT_TRIES = 3;

interface PublisherDependencies {
  readonly service: Service;
  readonly broker: Pick<Broker, 'connection' | 'connected' | 'publish'>;
  readonly retained: Retained;
  readonly views: CameraViews;
  readonly state: Pick<StateFile, 'pass' | 'save'>;
  /** most bytes of a picture; 0: none */
  readonly pictureLimit: number;
  /** of the console, without a trailing slash */
  readonly baseUrl: string;
  /** MQTT_TOPIC */
  readonly base: string;
  /** topic of the birth message of Home Assistant */
  readonly birthTopic: string;
  /** ms between two readings of the cameras' settings */
  readonly pollMs: number;
  readonly clock: () => number;
  readonly log: Log;
}

/** The state of the publisher, for its loop. */
interface Publisher {
  readonly deps: PublisherDependencies;
  readonly waiting: ReceivedEvent[];
  /** by the slug of the camera: whether to suspend it */
  readonly commands: Map<string, boolean>;
  readonly snapshots: Snapshots;
  /** cameras whose picture the broker no longer has */
  readonly lostPictures: Set<string>;
  /** the event that failed last, and how often */
  readonly failed: { id: string; count: number };
  /** Ending it lets the loop go on at once. */
  readonly pause: ReturnType<typeof createPause>;
  connection: Connection | undefined;
  /** epoch ms */
  polledAt: number;
}

export function createPublisher(deps: PublisherDependencies): Publisher {
  const pause = createPause();
  return {
    deps,
    waiting: [],
    commands: new Map(),
    snapshots: createSnapshots({ ...deps, api: deps.service.api, onTaken: pause.end }),
    lostPictures: new Set(),
    failed: { id: '', count: 0 },
    pause,
    connection: undefined,
    polledAt: Number.NEGATIVE_INFINITY,
  };
}

/** Takes an event over; waits while too many others do. The next reading shows the effect of all others. */
export async function take(publisher: Publisher, received: ReceivedEvent, signal: AbortSignal): Promise<void> {
  const { waiting, deps, pause } = publisher;
  if (!isPublished(received.event)) {
    if (waiting.length === 0) deps.state.pass(received.id);
    return;
  }
  while (waiting.length >= MOST_WAITING && !signal.aborted)
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
  waiting.push(received);
  pause.end();
}

/** Runs until the signal aborts. Outages of the broker and of the service are waited for. */
export async function runPublisher(publisher: Publisher, signal: AbortSignal): Promise<void> {
  const { deps, pause } = publisher;
  signal.addEventListener('abort', pause.end, { once: true });
  while (!signal.aborted) {
    try {
      await round(publisher);
    } catch (error) {
      if (signal.aborted) return;
      const reason = (error as Error).message;
      if (error instanceof Disconnected) deps.log('a message was not confirmed, it is sent again', { reason });
      else {
        deps.log('the publisher cannot go on, trying again', { reason });
        publisher.polledAt = Number.NEGATIVE_INFINITY;
        await deps.retained.set(statusTopic(deps.base), OFFLINE).catch(() => {});
      }
      await pause.wait(PAUSE_MS);
    }
  }
}

export function receive(publisher: Publisher, topic: string, payload: Buffer, wasRetained: boolean): void {
  const { deps, commands, snapshots, pause } = publisher;
  const text = payload.toString('utf8');
  if (topic === deps.birthTopic) {
    if (text !== ONLINE) return;
    deps.log('Home Assistant has started, announcing again');
    deps.retained.forget();
    publisher.polledAt = Number.NEGATIVE_INFINITY;
  } else {
    const command = commandOf(deps.base, topic);
    const expected = command?.name === 'snapshot' ? [PRESS] : [ON, OFF];
    const isFull = commands.size + snapshots.asked.size >= MOST_COMMANDS;
    // A retained command would come again with every connection.
    if (command === undefined || wasRetained || !expected.includes(text) || isFull) {
      const given = { topic, payload: text.slice(0, 64), retained: wasRetained };
      deps.log(`a command was ignored: expected ${expected.join(' or ')}`, given);
      return;
    }
    if (command.name === 'snapshot') snapshots.asked.add(command.slug);
    else commands.set(command.slug, text === ON);
  }
  pause.end();
}

/** One pass of the loop. @throws Disconnected; Failure if the service does not answer */
async function round(publisher: Publisher): Promise<void> {
  const { deps, waiting } = publisher;
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
  await publisher.snapshots.carryOut(({ view, payload }) => sendOnce(deps, view, 'snapshot', payload));
  const [next] = waiting;
  if (next !== undefined) return deliverOrDrop(publisher, next);
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
  const { ok: isReady } = await deps.service.request('/readyz');
  await deps.retained.set(statusTopic(deps.base), isReady ? ONLINE : OFFLINE);
  await deps.state.save();
  publisher.polledAt = deps.clock();
}

async function carryOut(publisher: Publisher): Promise<void> {
  const { deps, commands } = publisher;
  for (const [slug, suspend] of [...commands]) {
    const view = deps.views.bySlug(slug);
    const altered =
      view &&
      (await orMissing(
        ok(
          deps.service.api.PATCH('/v1/cameras/{id}', {
            params: { path: { id: view.camera.id } },
            body: { suspend_until: suspend ? FOR_EVER : null },
            headers: { 'content-type': 'application/merge-patch+json' },
          }),
        ),
      ));
    commands.delete(slug);
    if (view === undefined || altered === undefined) {
      deps.log('a command for a camera that does not exist was ignored', { camera: slug });
      continue;
    }
    deps.log('alerts of a camera suspended or resumed by MQTT', { camera: view.camera.id, suspend });
    view.camera = { ...view.camera, suspend_until: altered.suspend_until };
    await sync(publisher, view);
  }
}

/** An event that cannot be delivered although broker and service are there does not hold up the others. */
async function deliverOrDrop(publisher: Publisher, received: ReceivedEvent): Promise<void> {
  const { deps, waiting, failed } = publisher;
  const { id, event } = received;
  try {
    await deliver(publisher, received);
  } catch (error) {
    if (error instanceof Disconnected || (error instanceof Failure && error.kind === 'unavailable')) throw error;
    if (failed.id !== id) Object.assign(failed, { id, count: 0 });
    if (++failed.count < EVENT_TRIES) throw error;
    deps.log('an event could not be published and was dropped', { event, reason: (error as Error).message });
  }
  // The broker has confirmed it: after a kill from here on it is not repeated.
  waiting.shift();
  deps.state.pass(id);
  await deps.state.save();
}

async function deliver(publisher: Publisher, { event }: ReceivedEvent): Promise<void> {
  const { deps } = publisher;
  const { api } = deps.service;
  const view = await deps.views.current(event.camera ?? '');
  // An erased camera has no entities left.
  if (view === undefined) return;
  const { camera } = view;
  const { baseUrl } = deps;
  const { kind, id } = event.subject;
  if (kind === 'camera') return sendOnce(deps, view, 'alert', healthMessage(event, camera, baseUrl));
  const asked = { params: { path: { id } }, headers: inLanguageOf(camera) };
  if (kind === 'visit') {
    const visit = await orMissing(ok(api.GET('/v1/visits/{id}', asked)));
    if (visit === undefined) return;
    const pictures = await picturesOf(publisher, visit.best.comparison);
    return sendOnce(deps, view, 'visit', visitMessage(event, camera, { visit, pictures, baseUrl }));
  }
  const change = await orMissing(ok(api.GET('/v1/changes/{id}', asked)));
  noteChange(view, id, change, deps.clock());
  // The event of the change comes before its alert, so that an automation finds picture and states current.
  if (event.type.startsWith('alert.')) {
    const pictures = change && (await picturesOf(publisher, change.comparisons.best));
    return sendOnce(deps, view, 'alert', alertMessage(event, camera, { change, pictures, baseUrl }));
  }
  const isBegin = event.type === 'change.opened' || event.type === 'change.escalated';
  if (isBegin || (event.type === 'change.reverted' && isAbout(view.sentence, id))) {
    view.sentence = sentenceMessage(event, camera, change, baseUrl);
  }
  if (isBegin && change !== undefined) await sendPicture(publisher, view, change);
  await sync(publisher, view);
}

const picturesOf = ({ deps }: Publisher, comparison: string) =>
  orMissing(
    ok(
      deps.service.api.GET('/v1/comparisons/{id}', {
        params: { path: { id: comparison }, query: { links: 'lasting' } },
      }),
    ),
  );

/** A message that the broker does not keep. */
async function sendOnce(
  deps: PublisherDependencies,
  { camera }: CameraView,
  kind: 'alert' | 'visit' | 'snapshot',
  payload: string,
): Promise<void> {
  try {
    await deps.broker.publish({ topic: topicsOf(deps.base, camera.id)[kind], payload, retain: false });
  } catch (thrown) {
    if (!(thrown instanceof MessageRefused)) throw thrown;
    deps.log('the broker refuses a message', { camera: camera.id, kind, reason: thrown.message });
  }
}

async function sendPicture(publisher: Publisher, { camera }: CameraView, change: Change): Promise<void> {
  const { deps, connection, lostPictures } = publisher;
  const picture = await readPicture(deps, change.id, connection);
  if (picture === undefined) return;
  await deps.retained.setPicture(camera.id, picture.jpeg, picture.expiryS);
  lostPictures.delete(camera.id);
}

async function restorePicture(publisher: Publisher): Promise<void> {
  const { deps } = publisher;
  const [id = ''] = publisher.lostPictures;
  const view = await deps.views.current(id);
  const change = view && (await deps.views.latestChange(view));
  if (view !== undefined && change !== undefined) await sendPicture(publisher, view, change);
  publisher.lostPictures.delete(id);
}
