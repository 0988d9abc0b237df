/**
 * Preloaded into a server (NODE_OPTIONS=--import): figures of its event loop, which it serves as JSON on the unix
 * socket LOOP_PROBE. Each answer covers the time since the one before.
 *
 * A stall of the loop has two causes that look alike from outside: the loop is busy, or the process is ready and other
 * processes have the cores. On Linux the kernel counts both times per thread.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { performance } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const TICK_MS = 10;

/** Time of the main thread in ms, on a core and waiting for one. */
function scheduled() {
  const [ran, waited] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
  return { ran: Number(ran) / 1e6, waited: Number(waited) / 1e6 };
}
const since = (now, before) => ({ ran: now.ran - before.ran, waited: now.waited - before.waited });

function serveFigures(socket) {
  const now = () => ({
    at: performance.now(),
    utilization: performance.eventLoopUtilization(),
    cpu: process.cpuUsage(),
    thread: scheduled(),
  });
  let start = now();
  let tick = { at: performance.now(), thread: scheduled() };
  let worst = { ms: 0, ran: 0, waited: 0 };
  const watch = () => {
    const next = { at: performance.now(), thread: scheduled() };
    const late = next.at - tick.at - TICK_MS;
    if (late > worst.ms) worst = { ms: late, ...since(next.thread, tick.thread) };
    tick = next;
  };
  setInterval(watch, TICK_MS).unref();
  createServer((_request, response) => {
    const end = now();
    const { user, system } = process.cpuUsage(start.cpu);
    const figures = {
      ms: end.at - start.at,
      utilization: performance.eventLoopUtilization(end.utilization, start.utilization).utilization,
      cpu: (user + system) / 1000,
      thread: since(end.thread, start.thread),
      worst,
    };
    start = end;
    worst = { ms: 0, ran: 0, waited: 0 };
    response.end(JSON.stringify(figures));
  })
    .listen(socket)
    .unref();
}

// Worker threads inherit the preload.
if (isMainThread) serveFigures(process.env.LOOP_PROBE);
