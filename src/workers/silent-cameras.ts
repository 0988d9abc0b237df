/**
 * Watch over cameras from which no frame comes: a message when a camera falls silent, and one when it is back. Cameras
 * of one host that fall silent together are one message, because it is the host that failed.
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
/** Time for which a silent camera waits for others of its host whose snapshots fail. */
const TOGETHER_MS = 60_000;
/** Instead of the id of an API key, because no request asked for it. */
const WATCH = 'watch';

interface SilenceDependencies {
  readonly silences: Pick<SilenceStore, 'watched' | 'report'>;
  readonly cameras: Pick<CameraStore, 'state'>;
  readonly enqueueDelivery: Pick<EnqueueDelivery, 'ofAlert'>;
  /** epoch ms */
  readonly clock: () => number;
  readonly logger: Logger;
}

type Silent = WatchedCamera & { readonly last: number };

const hostOf = ({ camera: { settings } }: WatchedCamera): string | null =>
  settings.snapshot === null ? null : new URL(settings.snapshot.url).hostname;
const idOf = ({ camera }: WatchedCamera): string => camera.id;

/** Epoch ms of a camera's last frame; one without frames counts from its set-up if its frames are pulled. */
const lastSign = ({ camera, seen }: WatchedCamera): number | null =>
  seen ?? (camera.settings.snapshot === null ? null : Date.parse(camera.created_at));

const isBack = ({ seen, silence }: WatchedCamera): boolean => silence !== null && seen !== null && seen > silence.since;

const mayAlert = ({ camera: { settings } }: WatchedCamera, now: number): boolean =>
  settings.silent_after_s > 0 && (settings.suspend_until === null || Date.parse(settings.suspend_until) <= now);

function groupedBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

/** @returns a function that looks at every camera once, and returns the number of messages */
export function createSilenceWatch(deps: SilenceDependencies): () => Promise<number> {
  const { silences, clock, logger } = deps;
  // Frames could not come while no worker ran: their absence counts from now.
  const startedAt = clock();

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

  /** One message when all cameras that were reported together are back. */
  const reportBack = async (group: readonly WatchedCamera[], now: number): Promise<void> => {
    const [first] = group;
    if (first?.silence == null || !group.every(isBack)) return;
    const { under, since } = first.silence;
    const ids = group.map(idOf);
    const cameras = [...ids.filter((id) => id === under), ...ids.filter((id) => id !== under)];
    const of = { cameras, reason: 'silent', since: isoTime(since), detail: null } as const;
    await send(signalMessage('camera.back', now, of), null);
  };

  return async () => {
    const now = clock();
    const watched = await silences.watched();
    const reported = groupedBy(
      watched.filter(({ silence }) => silence !== null),
      ({ silence }) => silence?.under ?? '',
    );
    for (const group of reported.values()) await reportBack(group, now);

    const silent: Silent[] = [];
    for (const one of watched) {
      const last = lastSign(one);
      if (last === null || one.silence !== null || !mayAlert(one, now)) continue;
      if (await isSilent({ ...one, last }, now)) silent.push({ ...one, last });
    }
    let sent = 0;
    for (const [host, group] of groupedBy(silent, (one) => hostOf(one) ?? idOf(one))) {
      const ids = group.map(idOf);
      const failing = watched.some(
        (one) => hostOf(one) === host && one.silence === null && one.snapshotError !== null && !ids.includes(idOf(one)),
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
