/**
 * `npm run bench -- replay [FOLDER] [--camera=settings.json] [--reference=picture] [--person=list.json] [--kill]
 * [--always] [--once]`: the frames of a folder, named by their times (2026-01-05T12-00-00Z.jpg), are sent to POST
 * /v1/cameras/{id}/frames of a fresh service, twice; both runs must give the same list of changes. `--kill`: in the
 * second run the worker is killed (-9) half-way and a new one takes over. `--always`: the second run examines every
 * frame, without the rule of quiet frames; then times, kinds, zones and verdicts must be the same. Without FOLDER:
 * test/fixtures/replay. Ends with status 1 if the lists differ.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../../scripts/lib/shell.mjs';
import { report } from './lib/report.mjs';
import { startService } from './lib/service.mjs';

const FIXTURE = join(ROOT, 'test/fixtures/replay');
const CAMERA = 'replay';
const POLL_MS = 250;
const LIMIT_MS = 15 * 60_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    camera: { type: 'string' },
    reference: { type: 'string' },
    person: { type: 'string' },
    kill: { type: 'boolean', default: false },
    always: { type: 'boolean', default: false },
    once: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const given = positionals[0] !== undefined;
const folder = given ? resolve(positionals[0]) : join(FIXTURE, 'frames');
/** The file of the option, or the fixture's file if no folder is given. */
const file = (option, name) => {
  if (values[option] !== undefined) return resolve(values[option]);
  return given ? undefined : join(FIXTURE, name);
};
const settingsFile = file('camera', 'camera.json');
const referenceFile = file('reference', 'reference.jpg');
const personFile = file('person', 'person.json');

/** '2026-01-05T12-00-00Z.jpg' -> '2026-01-05T12:00:00Z'; milliseconds may follow the seconds. */
function timeOf(name) {
  const match = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d(?:\.\d{1,3})?)Z\.\w+$/.exec(name);
  if (match === null) throw new Error(`${name}: expected a frame named like 2026-01-05T12-00-00Z.jpg`);
  return `${match[1]}T${match[2]}:${match[3]}:${match[4]}Z`;
}

const frames = readdirSync(folder)
  .sort()
  .map((name) => ({ name, at: timeOf(name) }));
if (frames.length === 0) throw new Error(`${folder}: holds no frames`);

async function call(service, path, init = {}) {
  const response = await fetch(`${service.url}${path}`, init);
  if (!response.ok) throw new Error(`${init.method ?? 'GET'} ${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

async function send(service, { name, at }) {
  const form = new FormData();
  form.append('frame', new Blob([readFileSync(join(folder, name))]), name);
  form.append('captured_at', at);
  const headers = { prefer: 'respond-async' };
  return (await call(service, `/v1/cameras/${CAMERA}/frames`, { method: 'POST', body: form, headers })).id;
}

/** Resolves when `count` frames have been processed. */
async function processed(service, count) {
  const until = Date.now() + LIMIT_MS;
  for (;;) {
    const { status } = await call(service, `/v1/cameras/${CAMERA}`);
    if (status.frames >= count) return;
    if (Date.now() > until) throw new Error(`${status.frames} of ${count} frames after ${LIMIT_MS / 60_000} min`);
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
}

async function list(service) {
  const items = [];
  for (let cursor; cursor !== null; ) {
    const query = new URLSearchParams({ limit: '100', ...(cursor === undefined ? {} : { cursor }) });
    const page = await call(service, `/v1/changes?${query}`);
    items.push(...page.items);
    cursor = page.next_cursor;
  }
  return items.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Runs a replay. @returns its results without the ids of comparisons, which differ per run */
async function replay({ kill, build, always = false }) {
  const service = await startService({ env: { JOB_LOCK_MS: '2000' }, build });
  try {
    const settings = settingsFile === undefined ? {} : JSON.parse(readFileSync(settingsFile, 'utf8'));
    const base64 = () => readFileSync(referenceFile).toString('base64');
    const reference =
      settings.before === 'reference' && referenceFile !== undefined && existsSync(referenceFile)
        ? { reference: { base64: base64() } }
        : {};
    await call(service, `/v1/cameras/${CAMERA}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...settings, ...reference, ...(always ? { examine_every_s: 0 } : {}) }),
    });
    const ids = [];
    for (const frame of frames) ids.push(await send(service, frame));
    if (kill) {
      await processed(service, Math.floor(frames.length / 2));
      const pid = service.pid('worker');
      process.kill(pid, 'SIGKILL');
      console.error(`worker ${pid} killed after ${Math.floor(frames.length / 2)} of ${frames.length} frames`);
    }
    await processed(service, frames.length);
    const verdicts = [];
    let quiet = 0;
    for (const id of ids) {
      const comparison = await call(service, `/v1/comparisons/${id}`);
      const { status, verdict, kind, caption, regions, camera_frame } = comparison;
      if (camera_frame?.nothing_new_since !== undefined) quiet++;
      verdicts.push({ status, verdict, kind, caption, regions });
    }
    const changes = (await list(service)).map(({ comparisons: _new, ...change }) => change);
    return { quiet, found: { changes, verdicts } };
  } finally {
    await service.stop();
  }
}

const clock = (iso) => (iso === null ? 'still there' : iso.slice(11, 19));
const seconds = (iso) => Date.parse(iso) / 1000;
const end = (change) => (change.reverted_at === null ? null : change.last_seen);

/** Matches each entry of a person with the unmatched change of its zone that overlaps it longest in time. */
function matched(person, changes) {
  const last = seconds(frames.at(-1).at);
  const shared = (entry, change) =>
    Math.min(entry.to === null ? last : seconds(entry.to), end(change) === null ? last : seconds(end(change))) -
    Math.max(seconds(entry.from), seconds(change.first_seen));
  const free = new Set(changes);
  return person.map((entry) => {
    const [best] = [...free]
      .filter((change) => change.zone === entry.zone && shared(entry, change) > 0)
      .sort((a, b) => shared(entry, b) - shared(entry, a));
    free.delete(best);
    return { entry, change: best };
  });
}

function rowsBeside(person, changes) {
  const pairs = matched(person, changes);
  const alone = changes.filter((change) => !pairs.some((pair) => pair.change === change));
  const cellsOf = (change) =>
    change === undefined
      ? ['not reported', '', '']
      : [
          `${clock(change.first_seen)} to ${clock(end(change))}`,
          `${clock(change.confirmed_at)}, ${change.severity}`,
          `${change.kind}: ${change.caption}`,
        ];
  return [
    ...pairs.map(({ entry, change }) => [
      entry.zone,
      `${clock(entry.from)} to ${clock(entry.to)}: ${entry.who}`,
      ...cellsOf(change),
    ]),
    ...alone.map((change) => [change.zone ?? 'none', 'nothing', ...cellsOf(change)]),
  ];
}

const first = await replay({ kill: false, build: true });
// The second run uses the same build.
const { kill, always } = values;
const second = values.once ? first : await replay({ kill, always, build: false });
/** The examination of a frame that differs by noise gives slightly other outlines and words. */
const timesOf = ({ changes, verdicts }) => ({
  changes: changes.map(({ caption: _1, confidence: _2, regions: _3, ...change }) => change),
  verdicts: verdicts.map(({ verdict }) => verdict),
});
const compared = always ? timesOf : (found) => found;
const same = JSON.stringify(compared(first.found)) === JSON.stringify(compared(second.found));
const person = personFile === undefined || !existsSync(personFile) ? [] : JSON.parse(readFileSync(personFile, 'utf8'));
const killed = values.kill ? ', with the worker killed (-9) half-way' : '';
const equal = always
  ? 'the same changes at the same times, and the same verdicts'
  : 'the same changes, and the same result per frame';
const result = same ? equal : 'DIFFERENT RESULTS';
const examined = always ? `, with every frame examined (before, ${first.quiet} were quiet)` : '';
const outcome = values.once ? 'Replayed once.' : `Replayed again${killed}${examined}: ${result}.`;
report(
  'replay',
  `Replay: ${frames.length} frames of a fixed camera, ${clock(frames[0].at)} to ${clock(frames.at(-1).at)}`,
  [['zone', 'a person lists', 'the service reports', 'opened', 'as'], ...rowsBeside(person, first.found.changes)],
  [
    outcome,
    "Zones, rule and the person's list were chosen on this video (test/fixtures/replay/README.md).",
    'A caption is the statement of the comparison about the location of the change.',
  ],
);
if (!same) {
  console.error(JSON.stringify({ first: compared(first.found), second: compared(second.found) }, null, 2));
  process.exitCode = 1;
}
