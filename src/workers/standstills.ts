/**
 * Watch over cameras that show nothing: a message when no frame comes from one (silent) or it repeats one picture
 * (stuck), and one when it is back. Cameras of one host or one label that fail together in the same way are one
 * message, because what they share has failed.
 */
import { newTraceId } from '../base/ids.js';
import { isoTime } from '../base/wall-clock.js';
import { saidOf, signalMessage } from '../camera/settings/signal-message.js';
import type { EnqueueDelivery } from '../jobs/enqueue-delivery.js';
import type { Logger } from '../process/logger.js';
import type { Standstill } from '../schemas/loss.js';
import type { Message } from '../schemas/message.js';
import type { CameraStore } from '../stores/cameras/cameras.js';
import type { ReportedStandstill, StandstillStore, WatchedCamera } from '../stores/cameras/standstills.js';
import type { StoredMessage } from '../stores/changes/change-writes.js';

/** A camera is silent after this many of its intervals, as `stateOf` of camera/settings/health.ts. */
const INTERVALS = 3;
/** Time for which a camera that stands still waits for others of its host or label that fail. */
const TOGETHER_MS = 60_000;
/** Time for which the cameras of a group that are back wait for the others. */
const BACK_TOGETHER_MS = 300_000;
/** Instead of the id of an API key, because no request asked for it. */
const WATCH = 'watch';

interface WatchDependencies {
  readonly standstills: StandstillStore;
  readonly cameras: Pick<CameraStore, 'state'>;
  readonly enqueueDelivery: Pick<EnqueueDelivery, 'ofAlert'>;
  /** epoch ms */
  readonly clock: () => number;
  readonly logger: Logger;
}

/** A camera that may be reported. */
interface Standing extends WatchedCamera {
  /** time of its last frame, or capture time of the first of the equal frames, epoch ms */
  readonly since: number;
  /** time from which on it could be reported, epoch ms */
  readonly due: number;
}

/** The host and the labels of a camera, by which others may fail together with it. */
const sharedBy = ({ camera: { settings } }: WatchedCamera): string[] => [
  ...(settings.snapshot === null ? [] : [`host ${new URL(settings.snapshot.url).hostname}`]),
  ...settings.labels.map((label) => `label ${label}`),
];
const idOf = ({ camera }: WatchedCamera): string => camera.id;

/** Epoch ms of a camera's last frame; one without frames counts from its set-up if its frames are pulled. */
const lastSign = ({ camera, seen }: WatchedCamera): number | null =>
  seen ?? (camera.settings.snapshot === null ? null : Date.parse(camera.created_at));

/** When a camera could be reported at the earliest if it goes on as it does; null: it does not stand still. */
const STANDING: Readonly<Record<Standstill, (one: WatchedCamera) => Omit<Standing, keyof WatchedCamera> | null>> = {
  silent: (one) => {
    const [last, limit] = [lastSign(one), one.camera.settings.silent_after_s];
    return last === null || limit === 0 ? null : { since: last, due: last + limit * 1000 };
  },
  stuck: ({ camera, still }) => {
    const limit = camera.settings.frozen_after_s;
    if (still === null || limit === 0) return null;
    const { since, forMs, at, stuck } = still;
    return { since, due: stuck ? at : at + Math.max(0, limit * 1000 - forMs) };
  },
};

function isBack({ seen, still, standstill }: WatchedCamera): boolean {
  if (standstill === null) return false;
  return standstill.reason === 'stuck' ? still?.stuck !== true : seen !== null && seen > standstill.since;
}

const mayAlert = ({ camera: { settings } }: WatchedCamera, now: number): boolean =>
  settings.suspend_until === null || Date.parse(settings.suspend_until) <= now;

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

/** @returns a function that looks at every camera once, and returns the number of standstills that it reported */
export function createStandstillWatch(deps: WatchDependencies): () => Promise<number> {
  const { standstills, clock, logger } = deps;
  // Frames could not come while no worker ran: their absence counts from now.
  const startedAt = clock();
  /** time at which the first camera of a group was seen back, epoch ms, by the camera under which it was reported */
  const backSince = new Map<string, number>();

  /** Whether frames are missing for at least some of the camera's intervals, and for its limit since the start. */
  const isSilent = async ({ camera: { id, settings }, since }: Standing, now: number): Promise<boolean> => {
    const age = now - Math.max(since, startedAt);
    const pulled = (settings.snapshot?.interval_s ?? 0) * 1000;
    if (age < Math.max(settings.silent_after_s * 1000, INTERVALS * pulled)) return false;
    // Read of few cameras alone, because the state is large.
    const usual = settings.snapshot === null ? ((await deps.cameras.state(id))?.intervalMs ?? 0) : pulled;
    return age >= INTERVALS * usual;
  };
  const counts: Readonly<Record<Standstill, (one: Standing, now: number) => boolean | Promise<boolean>>> = {
    silent: isSilent,
    stuck: ({ still }) => still?.stuck === true,
  };

  const send = async (message: Message, { camera }: WatchedCamera, reported: ReportedStandstill | null) => {
    const stored: StoredMessage = { message, comparisonId: '', url: null, traceId: newTraceId(), apiKeyId: WATCH };
    await standstills.report(stored, saidOf(message, camera.settings), reported);
    await deps.enqueueDelivery.ofAlert(stored);
    logger.info({ camera_id: message.camera, cameras: message.cameras?.length ?? 1, event: message.type }, 'camera');
  };

  const reportStanding = async (reason: Standstill, group: readonly Standing[], now: number): Promise<void> => {
    const [first] = group;
    if (first === undefined) return;
    const since = Math.max(...group.map((one) => one.since));
    const detail = reason === 'silent' ? first.error : null;
    const message = signalMessage(`camera.${reason}`, now, {
      ...{ cameras: group.map(idOf), reason, since: isoTime(since), detail },
    });
    await send(message, first, { reason, since, under: first.camera.id });
  };

  /**
   * One message when all cameras that were reported together are back. If some stay away, the others do not wait for
   * ever; the rest is reported anew if a receiver closes the first report with this message.
   */
  const reportBack = async (under: string, group: readonly WatchedCamera[], now: number): Promise<void> => {
    const back = group.filter(isBack);
    const [first] = back;
    if (first?.standstill == null) return void backSince.delete(under);
    const begin = backSince.get(under) ?? now;
    if (back.length < group.length && now - begin < BACK_TOGETHER_MS) return void backSince.set(under, begin);
    backSince.delete(under);
    const ids = back.map(idOf);
    const cameras = [...ids.filter((id) => id === under), ...ids.filter((id) => id !== under)];
    const { reason, since } = first.standstill;
    const of = { cameras, reason, since: isoTime(since), detail: null };
    const named = back.find((one) => idOf(one) === cameras[0]) ?? first;
    await send(signalMessage('camera.back', now, of), named, null);
    if (ids.includes(under)) await standstills.forget(group.map(idOf).filter((id) => !ids.includes(id)));
  };

  /** @returns the groups that were reported */
  const reportAll = async (
    reason: Standstill,
    watched: readonly WatchedCamera[],
    now: number,
  ): Promise<Standing[][]> => {
    const candidates = watched.flatMap((one): Standing[] => {
      const standing = one.standstill === null && mayAlert(one, now) ? STANDING[reason](one) : null;
      return standing === null ? [] : [{ ...one, ...standing }];
    });
    const standing: Standing[] = [];
    for (const one of candidates) if (now >= one.due && (await counts[reason](one, now))) standing.push(one);
    const failing = candidates.filter((one) => !standing.includes(one) && now >= one.due - TOGETHER_MS);
    const reported: Standing[][] = [];
    for (const group of sharing(standing)) {
      const shared = new Set(group.flatMap(sharedBy));
      const waits = failing.some((one) => sharedBy(one).some((name) => shared.has(name)));
      if (waits && group.every(({ due }) => now < due + TOGETHER_MS)) continue;
      await reportStanding(reason, group, now);
      reported.push(group);
    }
    return reported;
  };

  return async () => {
    const now = clock();
    const watched = await standstills.watched();
    const reported = groupedBy(
      watched.filter(({ standstill }) => standstill !== null),
      ({ standstill }) => standstill?.under ?? '',
    );
    for (const [under, group] of reported) await reportBack(under, group, now);
    const silent = await reportAll('silent', watched, now);
    const others = watched.filter((one) => !silent.flat().some((other) => idOf(other) === idOf(one)));
    const stuck = await reportAll('stuck', others, now);
    return silent.length + stuck.length;
  };
}
