/** Printed lines of the command: the result of a run. */
import { counted } from '../../base/counted.js';
import { invalidValue } from '../../base/errors.js';
import { isoTimeIn } from '../../base/wall-clock.js';
import type { Recording } from '../../footage/outputs/recording.js';
import type { FootageChange, FootageFailure, Moment } from '../../footage/records.js';
import { SKIP_REASONS, type SkipReason, sumOfAccounts, unaccounted } from '../../footage/run/frame-account.js';

/** Failures that are printed; all of them are in changes.json. */
const SHOWN_FAILURES = 10;

export function formatResult(recording: Recording, outputs: string, timeZone: string): string {
  const { summary, changes, failures, gaps } = recording;
  const lines = changes.map((change) => formatChange(change, timeZone));
  const count = (of: 'frames' | 'examined') => summary.cameras.reduce((sum, camera) => sum + camera[of], 0);
  const state = summary.complete ? '' : ' (interrupted; the same command goes on)';
  const found = [
    counted(changes.length, 'change'),
    counted(gaps.length, 'gap'),
    counted(failures.length, 'failure'),
  ].join(', ');
  const totals = `${counted(count('frames'), 'frame')} looked at, ${count('examined')} compared: ${found}${state}`;
  const account = formatAccount(recording);
  return [...lines, ...formatFailures(failures), totals, `results in ${outputs}`, account].join('\n');
}

const REASONS: Readonly<Record<SkipReason, string>> = {
  seen_twice: 'seen twice',
  same_interval: 'not the first of their interval',
  outside: 'outside of the wanted time',
  damaged: 'damaged',
  unreadable: 'unreadable',
};

/** The line of all frames: how many came in, and why some were not looked at. */
function formatAccount({ summary: { cameras } }: Recording): string {
  const { in: came, skipped } = sumOfAccounts(cameras.map(({ account }) => account));
  const frames = cameras.reduce((sum, camera) => sum + camera.frames, 0);
  const reasons = SKIP_REASONS.flatMap((reason) => {
    const count = skipped[reason] ?? 0;
    return count === 0 ? [] : [`${count} ${REASONS[reason]}`];
  });
  const parts = reasons.length === 0 ? '' : ` (${reasons.join(', ')})`;
  return `${counted(came, 'frame')} in = ${frames} looked at + ${came - frames} skipped${parts}`;
}

/** @throws ScenedeltaError 'invalid-value' naming the camera of which frames are unaccounted for */
export function assertAccounted({ summary: { cameras } }: Recording): void {
  for (const { camera, account, frames } of cameras) {
    const lost = unaccounted(account, frames);
    if (lost === 0) continue;
    const what = `${camera}: ${account.in} frames came in and ${frames} were looked at`;
    throw invalidValue(`${what}: expected a reason for each other one, and ${lost} have none`);
  }
}

function formatChange({ camera, caption, first_seen, reverted }: FootageChange, timeZone: string): string {
  const time = (moment: Moment) => formatMoment(moment, timeZone) ?? `${moment.seconds.toFixed(1)} s`;
  const until = reverted === null ? '' : ` (until ${time(reverted)})`;
  return `${time(first_seen)}${until} ${camera}: ${caption}`;
}

/** @returns the capture time in a time zone; null if it is unknown */
export const formatMoment = ({ at }: Moment, timeZone: string): string | null =>
  at === null ? null : isoTimeIn(Date.parse(at), timeZone);

export function formatFailures(failures: readonly FootageFailure[]): string[] {
  const lines = failures.slice(0, SHOWN_FAILURES).map(({ file, reason }) => `failed: ${file} ${reason}`);
  const others = failures.length - lines.length;
  return others > 0 ? [...lines, `failed: ${others} others`] : lines;
}
