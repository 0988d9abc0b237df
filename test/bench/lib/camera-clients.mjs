/**
 * Cameras that post frames to the service: as fast as it answers, or one frame per second each. The frames of a camera
 * carry times one second apart, however fast they are sent.
 */
import { Agent, request } from 'undici';
import { fresh } from './pairs.mjs';
import { percentile } from './report.mjs';
import { cpuMs, formOf } from './service.mjs';

/** Longest wait from the posting of a frame to its result at which nothing waits: the time between two frames. */
const FRAME_MS = 1_000;
const PAGE = 100;
const POLL_MS = 200;
/** A service that needs longer to end its waiting frames hangs. */
const LIMIT_MS = 5 * 60_000;
const PARTS = ['api', 'worker', 'redis'];

/**
 * @param {{ url: string, pid: (name: string) => number }} service
 * @param {Buffer[]} sequence JPEGs in the order of time, sent again from the start after the last
 * @param {{ name: string, settings: object }} options settings of the cameras; their ids begin with `name`
 */
export function createCameras(service, sequence, { name, settings }) {
  const dispatcher = new Agent({ connections: 256, pipelining: 1 });
  const start = Date.now() - 24 * 3_600_000;
  const sent = new Map();

  async function call(method, path, options = {}) {
    const response = await request(`${service.url}${path}`, { method, dispatcher, ...options });
    const text = await response.body.text();
    if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${response.statusCode} ${text}`);
    return JSON.parse(text);
  }

  async function camera(index) {
    const id = `${name}-${index}`;
    if (!sent.has(id)) {
      sent.set(id, 0);
      const headers = { 'content-type': 'application/json' };
      await call('PUT', `/v1/cameras/${id}`, { body: JSON.stringify(settings), headers });
    }
    return id;
  }

  /** @param {string} prefer value of the header */
  function post(id, prefer) {
    const count = sent.get(id);
    sent.set(id, count + 1);
    // The cameras begin at different frames of the sequence.
    const offset = Number(id.split('-').at(-1)) * 7;
    const frame = fresh(sequence[(count + offset) % sequence.length]);
    const captured_at = new Date(start + count * FRAME_MS).toISOString();
    const { body, headers } = formOf({ frame }, { captured_at });
    return call('POST', `/v1/cameras/${id}/frames`, { body, headers: { ...headers, prefer } });
  }

  async function drained(ids) {
    const until = Date.now() + LIMIT_MS;
    for (const id of ids) {
      while ((await call('GET', `/v1/cameras/${id}`)).status.frames < sent.get(id)) {
        if (Date.now() > until) throw new Error(`${id}: frames still wait after ${LIMIT_MS / 60_000} min`);
        await new Promise((done) => setTimeout(done, POLL_MS));
      }
    }
  }

  /** @returns the newest `count` comparisons of the camera */
  async function latest(id, count) {
    const found = [];
    for (let cursor = null; found.length < count; ) {
      const query = new URLSearchParams({ camera: id, limit: String(PAGE), ...(cursor === null ? {} : { cursor }) });
      const page = await call('GET', `/v1/comparisons?${query}`);
      found.push(...page.items);
      cursor = page.next_cursor;
      if (cursor === null) break;
    }
    return found.slice(0, count);
  }

  const cpu = () => PARTS.map((part) => cpuMs(service.pid(part)));
  const spent = (before, frames) => cpu().map((now, i) => (now - before[i]) / frames);
  const all = (count, use) => Promise.all(Array.from({ length: count }, (_, i) => use(i)));

  return {
    /** Sends the first frames of `count` cameras, so that the service knows them. */
    async warmUp(count, frames) {
      await all(count, async (i) => {
        const id = await camera(i);
        while (sent.get(id) < frames) await post(id, 'wait=60');
      });
    },
    /** `count` cameras send their next frame as soon as the one before has its result. @returns frames per second */
    async asFastAsPossible(count, seconds) {
      let frames = 0;
      const from = performance.now();
      const until = from + seconds * 1000;
      await all(count, async (i) => {
        const id = await camera(i);
        for (; performance.now() < until; frames++) await post(id, 'wait=60');
      });
      return frames / ((performance.now() - from) / 1000);
    },
    /** `count` cameras send `frames` frames in turn, `senders` at a time. @returns CPU-ms per frame of all parts */
    async inTurn(count, { senders, frames }) {
      const ids = await all(count, camera);
      const before = cpu();
      let begun = 0;
      await all(Math.min(senders, count), async (i) => {
        for (let turn = 0; begun < frames; turn++) {
          begun++;
          // No camera has two senders, so its frames keep their order.
          const mine = Math.ceil((count - i) / senders);
          await post(ids[i + senders * (turn % mine)], 'wait=60');
        }
      });
      return spent(before, begun).reduce((sum, part) => sum + part, 0);
    },
    /**
     * `count` cameras send a frame per second for `seconds` seconds.
     * @returns whether no frame waited, the 95th percentile of the time from acceptance to result (ms), CPU-ms per
     *   frame of each part, and the shares of frames with the verdict change and of quiet ones
     */
    async onePerSecond(count, seconds) {
      const ids = await all(count, camera);
      const before = cpu();
      await all(count, async (i) => {
        const from = performance.now() + (i * FRAME_MS) / count;
        for (let k = 0; k < seconds; k++) {
          await new Promise((done) => setTimeout(done, Math.max(0, from + k * FRAME_MS - performance.now())));
          await post(ids[i], 'respond-async');
        }
      });
      await drained(ids);
      const cpuPerFrame = spent(before, count * seconds);
      const results = (await Promise.all(ids.map((id) => latest(id, seconds)))).flat();
      const failed = results.find(({ status }) => status !== 'finished');
      if (failed !== undefined) throw new Error(`a frame has not been compared: ${JSON.stringify(failed)}`);
      const p95 = percentile(
        results.map(({ timings_ms }) => timings_ms.total),
        0.95,
      );
      const share = (is) => results.filter(is).length / results.length;
      const changed = share(({ verdict }) => verdict === 'change');
      const quiet = share(({ camera_frame }) => camera_frame.nothing_new_since !== undefined);
      return { count, waits: p95 > FRAME_MS, p95, cpuPerFrame, changed, quiet };
    },
    close: () => dispatcher.close(),
  };
}
