/**
 * The work of test:chaos: comparisons with callbacks, cameras that send their frames in order, and batches. Every task
 * has an outcome without ids, which must equal that of the same task in a calm service.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import sharp from 'sharp';
import { Stop } from '../../scripts/lib/shell.mjs';
import { formOf } from '../bench/lib/service.mjs';
import { writeBlocks } from './block-video.mjs';

/** Without an answer, or without the end of any task: how long all of them take depends on the machine. */
const LIMIT_MS = 900_000;
const POLL_MS = 100;
/** Answers of a service that cannot accept for now; 409: an attempt, whose answer never came, is being accepted. */
const REFUSALS = [409, 503];
const START = Date.parse('2026-06-01T12:00:00Z');
/** Whether each frame of a camera shows the thing; repeated. */
const SCENES = [false, false, true, true, true, false, false, false];
const BATCH_FORMATS = ['ndjson', 'csv', 'json'];

/** @returns JPEGs of one scene: without a thing, with one, and with one elsewhere, which kills workers */
export async function makeFrames() {
  const plain = (width, height, background) => ({ create: { width, height, channels: 3, background } });
  const picture = (things) =>
    sharp(plain(384, 256, '#646464'))
      .composite(things)
      .jpeg({ quality: 90 })
      .toBuffer();
  const thing = { input: plain(58, 77, '#ff9696'), left: 288, top: 102 };
  const other = { ...thing, left: 30 };
  return { empty: await picture([]), thing: await picture([thing]), poison: await picture([other]) };
}

/** @returns the frames, and a recording of a minute, which is also in `folder` */
export async function makeMedia(folder, next) {
  const file = join(folder, 'blocks.mp4');
  writeBlocks(file, { minutes: 1, next });
  return { ...(await makeFrames()), video: readFileSync(file) };
}

/**
 * @param {{ url: string, headers: object }} service
 * @param {{ empty: Buffer, thing: Buffer, poison: Buffer, video: Buffer, framesPerCamera: number, hook: (query: string) => string }}
 *   options JPEGs of one scene, a recording, and the address that receives what has the query
 */
export function createLoad(service, { empty, thing, poison, video, framesPerCamera, hook }) {
  let lastEndAt = 0;
  const state = { accepted: 0, allowed: Number.POSITIVE_INFINITY, refused: 0, longestMs: 0 };

  /** Sends until it is accepted, with one Idempotency-Key. @returns the answer */
  const send = async (method, path, { headers, body }, key) => {
    const start = Date.now();
    for (;;) {
      const answer = await fetch(`${service.url}${path}`, {
        method,
        body,
        headers: { ...service.headers, ...headers, prefer: 'respond-async', 'idempotency-key': key },
      }).catch(() => undefined);
      const text = await answer?.text().catch(() => undefined);
      if (answer?.ok && text !== undefined) {
        state.longestMs = Math.max(state.longestMs, Date.now() - start);
        return JSON.parse(text);
      }
      if (answer !== undefined && !answer.ok && !REFUSALS.includes(answer.status)) {
        throw new Stop(`${method} ${path} answers ${answer.status}: ${text}`);
      }
      if (Date.now() - start > LIMIT_MS) throw new Stop(`${method} ${path} is not accepted for ${LIMIT_MS} ms`);
      state.refused++;
      await pause(POLL_MS);
    }
  };
  const accept = async (...request) => {
    // So that work is left for the disturbances to come.
    while (state.accepted >= state.allowed) await pause(20);
    const { id } = await send('POST', ...request);
    state.accepted++;
    return id;
  };
  /** @returns the text, or undefined if it is not there */
  const read = async (path) => {
    for (const end = Date.now() + LIMIT_MS; Date.now() < end; await pause(POLL_MS)) {
      const answer = await fetch(`${service.url}${path}`, { headers: service.headers }).catch(() => undefined);
      const text = await answer?.text().catch(() => undefined);
      if (answer?.ok && text !== undefined) return text;
      if (answer?.status === 404) return undefined;
    }
    throw new Stop(`GET ${path} is not answered for ${LIMIT_MS} ms`);
  };
  /** @returns the resource once it has ended; undefined if it is lost */
  const ended = async (path) => {
    for (const since = Date.now(); Date.now() - Math.max(since, lastEndAt) < LIMIT_MS; await pause(POLL_MS)) {
      const text = await read(path);
      const resource = text && JSON.parse(text);
      if (['queued', 'running'].includes(resource?.status)) continue;
      lastEndAt = Date.now();
      return resource;
    }
    return undefined;
  };
  /** @returns `of` the resource, or why there is nothing */
  const outcomeAt = async (path, of) => {
    const resource = await ended(path);
    if (resource === undefined) return 'lost';
    return resource.status === 'failed' ? `failed: ${JSON.stringify(resource.error)}` : of(resource);
  };

  const comparison = (after) => (name) => {
    let id;
    const form = formOf({ before: empty, after }, { callback_url: hook(name) });
    return {
      name,
      hooks: 1,
      send: async () => {
        id = await accept('/v1/comparisons', form, name);
      },
      outcome: () =>
        outcomeAt(`/v1/comparisons/${id}`, ({ verdict, caption, confidence, regions }) =>
          JSON.stringify({ verdict, caption, confidence, regions }),
        ),
    };
  };
  const camera = (name) => {
    const ids = [];
    return {
      name,
      hooks: 'alerts',
      send: async () => {
        const body = JSON.stringify({ alerts: { confirm_frames: 2, callback_url: hook(name) } });
        const settings = { headers: { 'content-type': 'application/json' }, body };
        await send('PUT', `/v1/cameras/${name}`, settings, `${name} settings`);
        for (let i = 0; i < framesPerCamera; i++) {
          const frame = SCENES[i % SCENES.length] ? thing : empty;
          const form = formOf({ frame }, { captured_at: new Date(START + i * 1000).toISOString() });
          ids.push(await accept(`/v1/cameras/${name}/frames`, form, `${name} ${i}`));
        }
      },
      outcome: async () => {
        const frames = [];
        for (const id of ids) frames.push(await outcomeAt(`/v1/comparisons/${id}`, ({ verdict }) => verdict));
        const bad = frames.find((frame) => /^(lost|failed)/.test(frame));
        if (bad !== undefined) return bad;
        const { items } = JSON.parse(await read(`/v1/changes?camera=${name}`));
        const { status } = JSON.parse(await read(`/v1/cameras/${name}`));
        const changes = items.map(({ id, camera: _camera, comparisons, ...change }) => change);
        return JSON.stringify({ frames, changes, count: status.frames, waiting: status.waiting });
      },
    };
  };
  const batch = (name) => {
    let id;
    return {
      name,
      hooks: 0,
      send: async () => {
        const data = new FormData();
        data.append('request', JSON.stringify({ template: '{camera}-{t:%Y-%m-%dT%H-%M-%S}.mp4', every: '1s' }));
        data.append('footage', new Blob([video]), 'yard-2026-06-01T12-00-00.mp4');
        id = await accept('/v1/batches', { headers: {}, body: data }, name);
      },
      outcome: () =>
        outcomeAt(`/v1/batches/${id}`, async ({ status, frames, failures }) => {
          const results = [];
          for (const format of BATCH_FORMATS) results.push(await read(`/v1/batches/${id}/results?format=${format}`));
          return JSON.stringify({ status, frames, failures, results }).replaceAll(id, 'ID');
        }),
    };
  };
  return {
    state,
    tasks: { unchanged: comparison(empty), changed: comparison(thing), poison: comparison(poison), camera, batch },
  };
}
