/** Watch over the processes of the service: restarts, peak memory and processor time, as Linux counts them. */
import { readFileSync } from 'node:fs';

const POLL_MS = 100;
/** Rate of the clock of /proc/PID/stat, on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;
const NAMES = ['api', 'worker'];

/** @param {(name: 'api' | 'worker') => number | undefined} pidOf */
export function watch(pidOf) {
  const pids = Object.fromEntries(NAMES.map((name) => [name, pidOf(name)]));
  const peaks = { api: 0, worker: 0 };
  let restarts = 0;
  const poll = () => {
    for (const name of NAMES) {
      const pid = pidOf(name);
      if (pid !== pids[name]) restarts++;
      pids[name] = pid;
      peaks[name] = Math.max(peaks[name], peakBytes(pid));
    }
  };
  const timer = setInterval(poll, POLL_MS);
  return {
    /** @param {'api' | 'worker'} name @returns bytes so far */
    peak: (name) => peakBytes(pidOf(name)),
    /** Seconds of processor time that the API and the worker have used so far. */
    processorSeconds: () => NAMES.reduce((sum, name) => sum + processorSeconds(pidOf(name)), 0),
    /** @returns {{ restarts: number, peaks: { api: number, worker: number } }} peaks in bytes */
    end() {
      clearInterval(timer);
      poll();
      return { restarts, peaks };
    },
  };
}

/** @returns the text of a file of /proc; '' if the process has just ended */
function read(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

const peakBytes = (pid) => Number(/^VmHWM:\s+(\d+) kB$/m.exec(read(pid, 'status'))?.[1] ?? 0) * 1024;

function processorSeconds(pid) {
  // The name of the program, in brackets, may contain spaces.
  const [user = 0, system = 0] = read(pid, 'stat')
    .replace(/^.*\) /, '')
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return (user + system) / TICKS_PER_SECOND;
}
