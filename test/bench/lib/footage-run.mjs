/** Runs of `scenedelta footage` for measurement: time, memory, and the found changes beside the known ones. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../../scripts/lib/shell.mjs';

/** Seconds between two sampled frames. */
const STEP = 1;
const SAMPLE_MS = 100;
const START = new Date(Date.UTC(2026, 5, 1, 12)).toISOString();
/** Rate of the clock of processes in /proc. */
const TICKS_PER_SECOND = 100;

/** Bytes in memory of a process and its children. */
function usageOf(pid) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
    const ofProcess = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
    return children.reduce((sum, child) => sum + usageOf(child), ofProcess);
  } catch {
    return 0;
  }
}

/** CPU seconds of all children that have ended, with theirs. */
function endedChildren() {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
}

/**
 * @param {number} parts of the run, for the peaks of memory
 * @returns wall seconds, CPU seconds of the process and its children, peak bytes of memory per part of the run
 */
function timed(program, args, parts = 2) {
  return new Promise((resolve, reject) => {
    const cpuBefore = endedChildren();
    const started = performance.now();
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'], cwd: ROOT });
    const memory = [];
    const timer = setInterval(() => memory.push(usageOf(child.pid)), SAMPLE_MS);
    child.on('error', reject);
    child.on('exit', (status) => {
      clearInterval(timer);
      if (status !== 0) return reject(new Error(`${program} ${args.join(' ')} ended with status ${status}`));
      const wall = (performance.now() - started) / 1000;
      const peaks = Array.from({ length: parts }, (_, i) =>
        Math.max(0, ...memory.slice((i * memory.length) / parts, ((i + 1) * memory.length) / parts)),
      );
      resolve({ wall, cpu: endedChildren() - cpuBefore, peaks });
    });
  });
}

/** @param outputs options of the output; absent: the frames are dropped */
export const decode = (file, options, outputs = ['-f', 'null', '-']) =>
  timed('ffmpeg', ['-v', 'error', '-nostdin', ...options, '-i', file, '-map', '0:v', ...outputs]);

/** Options of recordings whose names have no time. */
const UNDATED = ['--start', START, '--every', `${STEP}s`];

/** @returns the figures of `timed`, all changes, and the counts per camera */
export async function footage(inputs, out, args, parts = 2, dated = UNDATED) {
  const all = ['footage', ...inputs, '-d', out, ...dated, '-q', '--restart', ...args];
  const run = await timed('bin/scenedelta.js', all, parts);
  const lines = readFileSync(join(out, 'changes.ndjson'), 'utf8').split('\n').filter(Boolean);
  const { cameras } = JSON.parse(readFileSync(join(out, 'changes.json'), 'utf8')).summary;
  return { ...run, changes: lines.map((line) => JSON.parse(line)), cameras };
}

const overlap = (a, b) =>
  Math.max(0, Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x)) *
  Math.max(0, Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y));

/** Times are rounded to the time base of the video. */
const ROUNDING = 0.05;

/**
 * Compares the changes of one recording with the truth: each event is an appearance and its end. A change counts as
 * found if it is seen at its place within two sampling steps.
 * @returns delays in seconds, missed events, and the changes that belong to no event
 */
export function judge(changes, events) {
  const used = new Set();
  const missed = [];
  const late = [];
  const find = (what, time, box, timesOf) => {
    const match = changes.find(
      (change) =>
        change.regions.some((region) => overlap(region.box, box) > 0) &&
        timesOf(change).some((seconds) => seconds >= time - ROUNDING && seconds - time < 2 * STEP),
    );
    if (match === undefined) return missed.push({ what, time, box });
    used.add(match);
    late.push(Math.min(...timesOf(match).map((seconds) => Math.abs(seconds - time))));
  };
  for (const { from, until, box } of events) {
    find('begin', from, box, ({ first_seen }) => [first_seen.seconds]);
    find('end', until, box, ({ first_seen, reverted }) => [
      first_seen.seconds,
      ...(reverted === null ? [] : [reverted.seconds]),
    ]);
  }
  const wrong = changes.filter((change) => !used.has(change));
  return { found: late.length, expected: 2 * events.length, missed, wrong, late };
}

/** @param {number[]} late delays in seconds @returns the largest, and how many exceed a sampling step */
export function lateness(late) {
  const over = late.filter((seconds) => seconds > STEP + ROUNDING).length;
  return `${Math.max(0, ...late).toFixed(2)} s${over === 0 ? '' : `, ${over} above ${STEP} s`}`;
}
