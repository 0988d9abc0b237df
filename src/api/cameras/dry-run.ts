/**
 * Dry run of settings over the kept comparisons of a live camera, by the replay of recordings. A comparison holds
 * the regions that the settings of its time let through, so that the answer states the limits of the replay.
 */
import { setImmediate } from 'node:timers/promises';
import type { Static } from 'typebox';
import { invalidValue } from '../../base/errors.js';
import type { StoredCamera } from '../../camera/settings/camera.js';
import type { OperatingPoint } from '../../camera/settings/operating-points.js';
import type { CameraSettings } from '../../camera/settings/settings.js';
import type { FrameStats } from '../../footage/records.js';
import { CameraReplay, type DryRun } from '../../footage/replay/camera-replay.js';
import type { CameraNote } from '../../schemas/camera-frame.js';
import type { ComparisonRecord } from '../../schemas/comparison.js';
import { isForeign } from '../../schemas/loss.js';
import type { ApiDependencies } from '../dependencies.js';
import type { CameraDryRunSchema } from '../schemas/dry-run.js';

/** Comparisons of one dry run: about five hours of a frame per second. */
const MAX_FRAMES = 20_000;
const PAGE_SIZE = 500;
/** The replay is CPU work of the API, which other requests must not wait for. */
const FRAMES_AT_ONCE = 200;
const LISTED_ALERTS = 200;
/** Notes of frames before which the baseline was replaced. */
const RESETS: readonly CameraNote['code'][] = ['size_changed', 'mask_changed', 'baseline_set', 'baseline_reset'];

interface Context {
  readonly results: Pick<ApiDependencies['results'], 'list'>;
  readonly points: readonly OperatingPoint[] | null;
  /** epoch ms */
  readonly since: number;
  readonly until: number;
}

/** @throws ScenedeltaError 'invalid-value' if the settings compare frames with something else than the camera does */
export async function dryRunCamera(
  { id, settings: present }: StoredCamera,
  proposed: CameraSettings,
  context: Context,
): Promise<Static<typeof CameraDryRunSchema>> {
  const { before } = proposed;
  if (before !== present.before) {
    throw invalidValue(
      `before is ${before}, expected ${present.before}, which the kept frames were compared with`,
      'before',
    );
  }
  const kept = await keptFrames(id, before, context);
  const replay = new CameraReplay(id, proposed, { points: context.points ?? [], threshold: null });
  for (const [i, { stats }] of kept.frames.entries()) {
    if (i % FRAMES_AT_ONCE === 0) await setImmediate();
    replay.take({ ...stats, number: i });
  }
  const run = replay.finish();
  return {
    camera: id,
    from: kept.frames[0]?.stats.at ?? null,
    to: kept.frames.at(-1)?.stats.at ?? null,
    frames: run.frames,
    alert_count: run.alerts.length,
    alerts_per_day: run.alertsPerDay,
    suppressed: run.suppressed,
    changes: run.changes.length,
    threshold: run.threshold,
    alerts: run.alerts.slice(-LISTED_ALERTS).map(({ type, moment, kind, caption, severity, zone }) => ({
      type,
      at: moment.at ?? '',
      kind,
      caption,
      severity,
      zone,
      comparison: moment.file,
    })),
    limits: limitsOf(kept, run, present, proposed),
  };
}

interface KeptFrame {
  readonly stats: FrameStats;
  /** whether zones or areas removed regions that the replay does not have */
  readonly wereLeftOut: boolean;
}
interface KeptFrames {
  /** in the order of their capture times */
  readonly frames: readonly KeptFrame[];
  /** further frames of this time were not read */
  readonly isPart: boolean;
}

/** The last frames that were compared in this mode without an interruption by another one. */
async function keptFrames(
  camera: string,
  mode: CameraSettings['before'],
  { results, since, until }: Context,
): Promise<KeptFrames> {
  const frames: KeptFrame[] = [];
  let cursor: string | undefined;
  let isPart = false;
  do {
    const query = { camera, since, until, limit: PAGE_SIZE, ...(cursor === undefined ? {} : { cursor }) };
    const page = await results.list(query);
    const found = page.items.flatMap((comparison) => frameOf(comparison) ?? []);
    const other = found.findIndex(({ stats }) => stats.before != null && stats.before.mode !== mode);
    frames.push(...(other === -1 ? found : found.slice(0, other)));
    isPart = other !== -1 || (page.nextCursor !== null && frames.length >= MAX_FRAMES);
    cursor = isPart ? undefined : (page.nextCursor ?? undefined);
  } while (cursor !== undefined);
  frames.sort((a, b) => a.stats.time - b.stats.time);
  return { frames, isPart };
}

/** @returns undefined for a comparison that has no finding, or is about no frame of the camera */
function frameOf({ id, camera, camera_frame: frame, ...finding }: ComparisonRecord): KeptFrame | undefined {
  const { verdict, kind, nuisance, caption, caption_score, confidence, regions, statements, facts } = finding;
  if (camera === null || frame === undefined || finding.status !== 'finished') return undefined;
  if (verdict === undefined || kind === undefined || caption === undefined || regions === undefined) return undefined;
  const has = (codes: readonly CameraNote['code'][]) => frame.notes.some(({ code }) => codes.includes(code));
  if (has(['out_of_order'])) return undefined;
  const stats: FrameStats = {
    v: 1,
    camera,
    number: 0,
    at: frame.captured_at,
    // Instead of a file: the comparison that an alert of this frame is about.
    file: id,
    seconds: 0,
    time: Date.parse(frame.captured_at),
    examined: frame.nothing_new_since === undefined,
    score: null,
    before: frame.before,
    gap: has(['gap']),
    ...(has(RESETS) ? { reset: 'before' as const } : {}),
    finding:
      frame.before === null || isForeign(finding)
        ? null
        : {
            verdict,
            kind,
            caption,
            nuisance: nuisance ?? [],
            caption_score: caption_score ?? 0,
            confidence: confidence ?? 0,
            // The zone is that of the present settings.
            regions: regions.map(({ zone: _zone, ...region }) => region),
            ...(statements === undefined ? {} : { statements }),
            ...(facts === undefined ? {} : { facts }),
          },
    threshold: null,
  };
  return { stats, wereLeftOut: has(['regions_left_out']) };
}

const isUnnamed = ({ finding }: FrameStats): boolean =>
  finding?.verdict === 'change' && (finding.facts ?? []).length === 0;

function limitsOf(
  { frames, isPart }: KeptFrames,
  { undecided, frames: count }: DryRun,
  present: CameraSettings,
  proposed: CameraSettings,
): string[] {
  const leftOut = frames.filter(({ wereLeftOut }) => wereLeftOut).length;
  const hasSentences = proposed.alerts.severity_rules.some(({ when }) => when !== undefined);
  const unnamed = hasSentences ? frames.filter(({ stats }) => isUnnamed(stats)).length : 0;
  const privacy = ({ zones }: CameraSettings) => JSON.stringify(zones.filter(({ type }) => type === 'privacy'));
  const of = (number: number) => `${number} of ${count} frames`;
  return [
    ...(count === 0 ? ['No compared frame of this time is kept.'] : []),
    ...(isPart ? ['Earlier frames of this time are not part of it: there are too many, or `before` was another.'] : []),
    ...(leftOut > 0
      ? [`In ${of(leftOut)} the settings of that time left regions out; what they showed is not kept.`]
      : []),
    ...(undecided > 0
      ? [`${of(undecided)} reach this threshold and had none of their regions kept, so they cause no alert here.`]
      : []),
    ...(unnamed > 0
      ? [`In ${of(unnamed)} the model named nothing in a change, so no sentence of a rule holds there.`]
      : []),
    ...(privacy(present) === privacy(proposed)
      ? []
      : ['Other privacy zones alter frames; they are not compared again.']),
    ...(proposed.before === 'memory'
      ? ['The background model is the one that the settings of that time learned.']
      : []),
    ...(present.model === proposed.model ? [] : ['The frames are not compared again by another model.']),
  ];
}
