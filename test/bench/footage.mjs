/**
 * `npm run bench -- footage [--hour] [--pairs=FOLDER] [--keep=FOLDER] [--write]`: a made recording with known changes
 * through `scenedelta footage`: recall, false changes, errors of the times, speed beside ffmpeg decoding alone, memory.
 * The short form has 6 minutes. With --pairs, the scenes of labelled pairs make up an hour (or 10 minutes), a camera
 * each.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readOptions } from '../../scripts/lib/options.mjs';
import { decode, footage, judge, lateness } from './lib/footage-run.mjs';
import { partOf, scenesOf, writeRecording } from './lib/footage-video.mjs';
import { mb, report } from './lib/report.mjs';

const {
  values: { hour, pairs, keep },
} = readOptions({
  ...{ hour: { type: 'boolean' }, pairs: { type: 'string' }, keep: { type: 'string' }, write: { type: 'boolean' } },
});
/** Options of ffmpeg for a frame of each second at working size, through a pipe. */
const REDUCED = [
  ...['-vf', 'select=isnan(prev_selected_t)+gte(t-prev_selected_t\\,0.99),scale=960:540:flags=area,format=yuvj420p'],
  ...['-fps_mode', 'passthrough', '-f', 'rawvideo', 'pipe:1'],
];
const folder = keep ?? mkdtempSync(join(tmpdir(), 'sd-footage-'));

if (pairs === undefined) await measureSpeed();
else await measureScenes();
if (keep === undefined) rmSync(folder, { recursive: true });

/** One recording: speed and memory. */
async function measureSpeed() {
  const [scene] = await scenesOf(undefined);
  const repeats = hour ? 10 : 1;
  const seconds = repeats * partOf(scene);
  const { file, events } = await writeRecording(folder, scene, repeats);
  const rows = [];
  const problems = [];
  for (const [name, options, args] of [
    ['key frames', ['-discard', 'nokey', '-skip_frame', 'nokey'], []],
    ['every frame', [], ['--exact']],
  ]) {
    const alone = await decode(file, options);
    const reduced = await decode(file, options, REDUCED);
    const run = await footage([file], join(folder, `out-${scene.name}`), args);
    const [{ examined, frames }] = run.cameras;
    const { found, expected, wrong, late } = judge(run.changes, events);
    rows.push([
      ...[name, `${found}/${expected}`, String(wrong.length), lateness(late), `${examined}/${frames}`],
      ...[`${run.wall.toFixed(1)} s`, `${(seconds / run.wall).toFixed(0)} x`],
      ...[`${alone.wall.toFixed(1)} s`, `${(seconds / alone.wall).toFixed(0)} x`],
      `${((100 * alone.wall) / run.wall).toFixed(0)} %`,
      `${reduced.wall.toFixed(1)} s`,
      `${((100 * reduced.wall) / run.wall).toFixed(0)} %`,
      `${run.cpu.toFixed(1)} s, ${alone.cpu.toFixed(1)} s, ${((100 * alone.cpu) / run.cpu).toFixed(0)} %`,
      run.peaks.map(mb).join(', '),
    ]);
    problems.push(...wrong.map(describe));
    console.error(rows.at(-1).join(' | '));
  }
  const head = ['decoded', 'changes found', 'false', 'latest', 'compared/frames', 'time', 'real time'];
  report(
    'footage',
    'Footage: a made recording with known changes, 1080p H.264, 15 frames per second',
    [
      [
        ...[...head, 'ffmpeg alone', 'real time', 'share', 'ffmpeg that reduces', 'share'],
        ...['CPU: run, ffmpeg alone, share', 'peak memory'],
      ],
      ...rows,
    ],
    [
      `${seconds} s of recording, sampled once per second; a key frame every second, at most 2 Mbit/s, no B-frames. Each ` +
        'thing that comes and goes counts as two changes. Latest: the largest delay of a time.',
      'ffmpeg alone decodes the same frames with the same options and drops them; one that reduces writes the ' +
        'sampled ones at working size, as the command needs them. Share: its time of that of the whole command, with ' +
        'its start and its outputs. Peak memory of the command and its ffmpeg, in both halves of the run.',
      ...problems,
    ],
  );
}

/** Scenes of labelled pairs, as cameras of one recording: recall and false changes. */
async function measureScenes() {
  const scenes = await scenesOf(pairs);
  const wanted = (hour ? 3600 : 600) / scenes.length;
  const recordings = [];
  for (const scene of scenes) {
    const repeats = Math.max(1, Math.round(wanted / partOf(scene)));
    const recording = await writeRecording(folder, scene, repeats);
    recordings.push({ ...recording, scene, seconds: repeats * partOf(scene) });
    console.error(`${scene.name}: ${scene.things.length} things, ${recordings.at(-1).seconds} s`);
  }
  const files = recordings.map(({ file }) => file);
  const run = await footage(files, join(folder, 'out-pairs'), ['--template', '{camera}-{any}.mp4']);
  const problems = [];
  const [groups, all] = [new Map(), groupOf('all')];
  for (const { scene, events, seconds } of recordings) {
    const ofScene = run.changes.filter(({ camera }) => camera === scene.name);
    const { examined, frames } = run.cameras.find(({ camera }) => camera === scene.name);
    const judged = judge(ofScene, events);
    if (!groups.has(scene.scene)) groups.set(scene.scene, groupOf(scene.scene));
    for (const group of [groups.get(scene.scene), all]) add(group, { ...judged, seconds, examined, frames });
    const missed = judged.missed.map(
      ({ what, time }) => `Missed in ${scene.name}: the ${what} of a thing at ${time} s.`,
    );
    problems.push(...missed, ...judged.wrong.map(describe));
  }
  const rows = [...groups.values(), all].map(rowOf);
  const { seconds } = all;
  report(
    'footage',
    'Footage: scenes of labelled pairs as a recording with known changes',
    [['scene', 'cameras', 'length', 'changes found', 'false', 'latest', 'compared/frames'], ...rows],
    [
      'Cut-outs of the pairs come and go in the picture of a camera, one pair each: 1080p H.264, 5 frames per second, ' +
        'sampled at the key frames, one per second. Each thing that comes and goes counts as two changes.',
      `${run.wall.toFixed(1)} s for ${seconds} s of recording (${(seconds / run.wall).toFixed(0)} times real time), ` +
        `${run.cpu.toFixed(1)} CPU seconds; peak memory ${run.peaks.map(mb).join(', ')} in both halves.`,
      ...problems,
    ],
    'footage-pairs',
  );
}

function groupOf(name) {
  return { name, cameras: 0, seconds: 0, found: 0, expected: 0, wrong: 0, late: [], examined: 0, frames: 0 };
}

function add(group, { seconds, found, expected, wrong, late, examined, frames }) {
  group.cameras++;
  group.seconds += seconds;
  group.found += found;
  group.expected += expected;
  group.wrong += wrong.length;
  group.late.push(...late);
  group.examined += examined;
  group.frames += frames;
}

function rowOf({ name, cameras, seconds, found, expected, wrong, late, examined, frames }) {
  const share = `${found}/${expected} (${((100 * found) / expected).toFixed(1)} %)`;
  return [name, String(cameras), `${seconds} s`, share, String(wrong), lateness(late), `${examined}/${frames}`];
}

function describe({ camera, caption, kind, first_seen, regions }) {
  const [{ box }] = regions;
  const at = [box.x, box.y, box.width, box.height].map((side) => side.toFixed(2)).join(', ');
  return `False in ${camera} at ${first_seen.seconds} s (${kind}, at ${at}): ${caption}`;
}
