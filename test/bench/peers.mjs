/**
 * `npm run bench:peers [-- --python=FILE] [--hour] [--keep=FOLDER] [--write]`: programs that watch recordings, on one
 * made recording with known changes: changes found, false ones, time, processor time, memory. --python is the Python of
 * an environment with test/bench/peers/requirements.txt; a peer that is missing is skipped, and one that fails is
 * reported. The judge compares times alone, because the peers say no more.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readOptions } from '../../scripts/lib/options.mjs';
import { ROOT } from '../../scripts/lib/shell.mjs';
import { partOf, scenesOf, writeRecording } from './lib/footage-video.mjs';
import { judgeTimes, momentsOfEvents, plantFaults, secondsOf } from './lib/peer-judge.mjs';
import { report } from './lib/report.mjs';

const { values } = readOptions({
  ...{ python: { type: 'string' }, hour: { type: 'boolean' }, keep: { type: 'string' }, write: { type: 'boolean' } },
});
const python = values.python ?? 'python3';
const folder = values.keep ?? mkdtempSync(join(tmpdir(), 'sd-peers-'));
const script = fileURLToPath(new URL('./peers/mog2.py', import.meta.url));
/** A program that pip installed beside the interpreter. */
const beside = (name) => join(dirname(python), name);
const moduleVersion = (name) =>
  spawnSync(python, ['-c', `import importlib.metadata as m; print(m.version("${name}"))`], { encoding: 'utf8' });

/** Runs a program to its end under GNU time. @returns its output, wall and CPU seconds, peak memory in MB, status */
function timed(command, args, env = {}) {
  const stats = join(folder, 'time.txt');
  const run = spawnSync('/usr/bin/time', ['-f', '%e %U %S %M', '-o', stats, command, ...args], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, ...env },
    maxBuffer: 1 << 28,
  });
  const [wall, user, system, kilobytes] = readFileSync(stats, 'utf8').trim().split('\n').at(-1).split(' ').map(Number);
  return { ...run, wall, cpu: user + system, memory: kilobytes / 1024 };
}

/** version: output of a command. says: content of an answer. moments: seconds at which a run saw a change */
const PEERS = [
  {
    name: 'scenedelta footage',
    says: 'a sentence, regions, begin and end, kind, colour',
    version: () => ({ status: 0, stdout: JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version }),
    command: (file) => [
      join(ROOT, 'bin/scenedelta.js'),
      [
        'footage',
        file,
        '-d',
        join(folder, 'out'),
        '--start',
        '2026-01-01T00:00:00Z',
        '--every',
        '1s',
        '-q',
        '--restart',
      ],
    ],
    moments: () =>
      readFileSync(join(folder, 'out/changes.ndjson'), 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
        .flatMap(({ first_seen, reverted }) => [first_seen, ...(reverted === null ? [] : [reverted])])
        .map(({ seconds }) => seconds),
  },
  {
    name: 'DVR-Scan, every frame',
    says: 'begin and end of motion',
    version: () => moduleVersion('dvr-scan-headless'),
    command: (file) => [beside('dvr-scan'), ['-i', file, '--scan-only']],
    moments: ({ stdout }) => secondsOf(stdout),
  },
  {
    name: 'DVR-Scan, one frame of 15',
    says: 'begin and end of motion',
    version: () => moduleVersion('dvr-scan-headless'),
    command: (file) => [beside('dvr-scan'), ['-i', file, '--scan-only', '--frame-skip', '14']],
    moments: ({ stdout }) => secondsOf(stdout),
  },
  {
    name: 'PySceneDetect, detect-adaptive',
    says: 'times of cuts',
    version: () => moduleVersion('scenedetect-headless'),
    command: (file) => [beside('scenedetect'), ['-i', file, 'detect-adaptive', 'list-scenes', '--no-output-file']],
    moments: ({ stdout }) => secondsOf(stdout),
  },
  {
    name: 'OpenCV MOG2 with contours, 1 frame per second',
    says: 'begin and end of motion, boxes',
    version: () => spawnSync(python, ['-c', 'import cv2; print(cv2.__version__)'], { encoding: 'utf8' }),
    command: (file) => [python, [script, file]],
    moments: ({ stdout }) => JSON.parse(stdout),
  },
];

const [scene] = await scenesOf(undefined);
const repeats = values.hour ? 10 : 1;
const { file, events } = await writeRecording(folder, scene, repeats);
const truth = momentsOfEvents(events);
plantFaults(truth);

const rows = [];
const notes = [];
for (const peer of PEERS) {
  const { status, stdout } = peer.version();
  const [command, args] = peer.command(file);
  if (status !== 0 || (command.includes('/') && !existsSync(command))) {
    notes.push(`${peer.name} was skipped: it is not installed (--python).`);
    console.error(notes.at(-1));
    continue;
  }
  const run = timed(command, args);
  const figures = [`${run.wall.toFixed(1)} s`, `${run.cpu.toFixed(1)} s`, `${run.memory.toFixed(0)} MB`];
  if (run.status !== 0) {
    const reason = run.stderr.trim().split('\n').at(-1);
    rows.push([peer.name, stdout.trim(), 'failed', '', ...figures, peer.says]);
    notes.push(`${peer.name} ended with ${run.status}: ${reason}`);
  } else {
    const { found, wrong } = judgeTimes(peer.moments(run), truth);
    rows.push([peer.name, stdout.trim(), `${found}/${truth.length}`, String(wrong), ...figures, peer.says]);
  }
  console.error(rows.at(-1).join(' | '));
}
report(
  'bench:peers',
  'Peers: programs that watch recordings, on one made recording with known changes',
  [['program', 'version', 'changes found', 'false', 'time', 'CPU', 'peak memory', 'an answer says'], ...rows],
  [
    `${repeats * partOf(scene)} s of recording, 1080p H.264, 15 frames per second. Each thing that comes and goes counts ` +
      'as two changes; a change is found if the program names a moment within 2 s of it, and a moment with no change is ' +
      'false. The judge was given no moments, an additional one and a missing one first, and noticed each.',
    'Every program ran with its default settings; its name has the others.',
    ...notes,
  ],
);
if (values.keep === undefined) rmSync(folder, { recursive: true });
