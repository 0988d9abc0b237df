/** Printed lines of the command: the plan of a run, and its result. */
import type { RecordingPlan } from '../../footage/inputs/plan.js';
import type { Recording } from '../../footage/outputs/recording.js';
import type { FootageItem } from '../../footage/recording-plan.js';
import type { FootageChange, FootageFailure } from '../../footage/records.js';

/** Failures that are printed; all of them are in changes.json. */
const SHOWN_FAILURES = 10;

export function formatPlan({ sequences, failures }: RecordingPlan): string {
  const lines = sequences.map(({ camera, items }) => {
    const [first, last] = [items[0] as FootageItem, items.at(-1) as FootageItem];
    const videos = items.filter(({ kind }) => kind === 'video').length;
    const what = [`${videos} videos`, `${items.length - videos} pictures`].filter((text) => !text.startsWith('0 '));
    return `${camera}: ${what.join(', ')}, first ${iso(first.at)} ${first.file}, last ${iso(last.at)} ${last.file}`;
  });
  return [...lines, ...formatFailures(failures)].join('\n');
}

export function formatResult({ summary, changes, failures, gaps }: Recording, outputs: string): string {
  const count = (of: 'frames' | 'examined') => summary.cameras.reduce((sum, camera) => sum + camera[of], 0);
  const state = summary.complete ? '' : ' (interrupted; the same command goes on)';
  const found = `${changes.length} changes, ${gaps.length} gaps, ${failures.length} failures`;
  const totals = `${count('frames')} frames looked at, ${count('examined')} compared: ${found}${state}`;
  return [...changes.map(formatChange), ...formatFailures(failures), totals, `results in ${outputs}`].join('\n');
}

function formatChange({ camera, caption, first_seen, reverted }: FootageChange): string {
  const end = reverted === null ? '' : ` (until ${reverted.at ?? clock(reverted.seconds)})`;
  return `${first_seen.at ?? clock(first_seen.seconds)} ${camera}: ${caption}${end}`;
}

function formatFailures(failures: readonly FootageFailure[]): string[] {
  const lines = failures.slice(0, SHOWN_FAILURES).map(({ file, reason }) => `failed: ${file} ${reason}`);
  const others = failures.length - lines.length;
  return others > 0 ? [...lines, `failed: ${others} others`] : lines;
}

const iso = (at: number): string => new Date(at).toISOString();
const clock = (seconds: number): string => `${seconds.toFixed(1)} s`;
