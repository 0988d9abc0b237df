/**
 * Watch over cameras from which no frame comes: a message when a camera falls silent, and one when it is back. Cameras
 * of one host or one label that fall silent together are one message, because what they share has failed.
 */
import { newTraceId } from '../base/ids.js';
import { isoTime } from '../base/wall-clock.js';
import { signalMessage } from '../camera/settings/signal-message.js';
import type { EnqueueDelivery } from '../jobs/enqueue-delivery.js';
import type { Logger } from '../process/logger.js';
import type { Message } from '../schemas/message.js';
import type { CameraStore } from '../stores/cameras/cameras.js';
import type { SilenceStore, WatchedCamera } from '../stores/cameras/silence.js';
import type { StoredMessage } from '../stores/changes/change-writes.js';

/** A camera is silent after this many of its intervals, as `stateOf` of camera/settings/health.ts. */
const INTERVALS = 3;
/** Time for which a silent camera waits for others of its host or label that fail. */
const TOGETHER_MS = 60_000;
/** Time for which the cameras of a group that are back wait for the others. */
const BACK_TOGETHER_MS = 300_000;
/** Instead of the id of an API key, because no request asked for it. */
const WATCH = 'watch';

interface SilenceDependencies {
  readonly silences: SilenceStore;
  readonly cameras: Pick<CameraStore, 'state'>;
  readonly enqueueDelivery: Pick<EnqueueDelivery, 'ofAlert'>;
  /** epoch ms */
  readonly clock: () => number;
  readonly logger: Logger;
}

type Silent = WatchedCamera & { readonly last: number };

/** The host and the labels of a camera, by which others may fail together with it. */
const sharedBy = ({ camera: { settings } }: WatchedCamera): string[] => [
  ...(settings.snapshot === null ? [] : [`host ${new URL(settings.snapshot.url).hostname}`]),
  ...settings.labels.map((label) => `label ${label}`),
];
const idOf = ({ camera }: WatchedCamera): string => camera.id;

/** Epoch ms of a camera's last frame; one without frames counts from its set-up if its frames are pulled. */
const lastSign = ({ camera, seen }: WatchedCamera): number | null =>
  seen ?? (camera.settings.snapshot === null ? null : Date.parse(camera.created_at));

/** Whether it may fall silent within TOGETHER_MS. */
function isFailing(one: WatchedCamera, now: number): boolean {
  const last = lastSign(one);
  return last !== null && now - last >= one.camera.settings.silent_after_s * 1000 - TOGETHER_MS;
}

const isBack = ({ seen, silence }: WatchedCamera): boolean => silence !== null && seen !== null && seen > silence.since;

const mayAlert = ({ camera: { settings } }: WatchedCamera, now: number): boolean =>
  settings.silent_after_s > 0 && (settings.suspend_until === null || Date.parse(settings.suspend_until) <= now);

function groupedBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

/** The cameras in groups: each shares a host or a label with another one of its group. */
function sharing<T extends WatchedCamera>(cameras: readonly T[]): T[][] {
  let groups: { shared: Set<string>; members: T[] }[] = [];
  for (const camera of cameras) {
    const shared = sharedBy(camera);
    const touches = ({ shared: other }: { shared: Set<string> }) => shared.some((one) => other.has(one));
    const joined = groups.filter(touches);
    groups = groups.filter((group) => !joined.includes(group));
    groups.push({
      shared: new Set([...joined.flatMap((group) => [...group.shared]), ...shared]),
      members: [...joined.flatMap(({ members }) => members), camera],
    });
  }
  return groups.map(({ members }) => members);
}

/** @returns a function that looks at every camera once, and returns the number of messages */
export function createSilenceWatch(deps: SilenceDependencies): () => Promise<number> {
  const { silences, clock, logger } = deps;
  // Frames could not come while no worker ran: their absence counts from now.
  const startedAt = clock();
  /** time at which the first camera of a group was seen back, epoch ms, by the camera under which it was reported */
  const backSince = new Map<string, number>();

  /** @returns whether it has been silent for too long at `now` */
  const isSilent = async ({ camera: { id, settings }, last }: Silent, now: number): Promise<boolean> => {
    const age = now - Math.max(last, startedAt);
    const pulled = (settings.snapshot?.interval_s ?? 0) * 1000;
    if (age < Math.max(settings.silent_after_s * 1000, INTERVALS * pulled)) return false;
    // Read of few cameras alone, because the state is large.
    const usual = settings.snapshot === null ? ((await deps.cameras.state(id))?.intervalMs ?? 0) : pulled;
    return age >= INTERVALS * usual;
  };

  const send = async (message: Message, silence: { since: number; under: string } | null) => {
    const stored: StoredMessage = { message, comparisonId: '', url: null, traceId: newTraceId(), apiKeyId: WATCH };
    await silences.report(stored, silence);
    await deps.enqueueDelivery.ofAlert(stored);
    logger.info({ camera_id: message.camera, cameras: message.cameras?.length ?? 1, event: message.type }, 'camera');
  };

  const reportSilent = async (group: readonly Silent[], now: number): Promise<void> => {
    const [first] = group;
    if (first === undefined) return;
    const since = Math.max(...group.map(({ last }) => last));
    const message = signalMessage('camera.silent', now, {
      cameras: group.map(idOf),
      reason: 'silent',
      since: isoTime(since),
      detail: first.snapshotError,
    });
    await send(message, { since, under: first.camera.id });
  };

  /**
   * One message when all cameras that were reported together are back. If some stay away, the others do not wait for
   * ever; the rest is reported anew if a receiver closes the first report with this message.
   */
  const reportBack = async (under: string, group: readonly WatchedCamera[], now: number): Promise<void> => {
    const back = group.filter(isBack);
    const [first] = back;
    if (first?.silence == null) return void backSince.delete(under);
    const begin = backSince.get(under) ?? now;
    if (back.length < group.length && now - begin < BACK_TOGETHER_MS) return void backSince.set(under, begin);
    backSince.delete(under);
    const ids = back.map(idOf);
    const cameras = [...ids.filter((id) => id === under), ...ids.filter((id) => id !== under)];
    const of = { cameras, reason: 'silent', since: isoTime(first.silence.since), detail: null } as const;
    await send(signalMessage('camera.back', now, of), null);
    if (ids.includes(under)) await silences.forget(group.map(idOf).filter((id) => !ids.includes(id)));
  };

  return async () => {
    const now = clock();
    const watched = await silences.watched();
    const reported = groupedBy(
      watched.filter(({ silence }) => silence !== null),
      ({ silence }) => silence?.under ?? '',
    );
    for (const [under, group] of reported) await reportBack(under, group, now);

    const silent: Silent[] = [];
    for (const one of watched) {
      const last = lastSign(one);
      if (last === null || one.silence !== null || !mayAlert(one, now)) continue;
      if (await isSilent({ ...one, last }, now)) silent.push({ ...one, last });
    }
    let sent = 0;
    for (const group of sharing(silent)) {
      const ids = group.map(idOf);
      const shared = new Set(group.flatMap(sharedBy));
      const failing = watched.some(
        (one) =>
          one.silence === null &&
          !ids.includes(idOf(one)) &&
          mayAlert(one, now) &&
          sharedBy(one).some((name) => shared.has(name)) &&
          isFailing(one, now),
      );
      const waited = group.some(({ camera: { settings }, last }) => {
        return now - last >= settings.silent_after_s * 1000 + TOGETHER_MS;
      });
      if (failing && !waited) continue;
      await reportSilent(group, now);
      sent += 1;
    }
    return sent;
  };
}
