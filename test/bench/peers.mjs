/**
 * `npm run bench -- peers [--python=FILE] [--hour] [--things=4] [--keep=FOLDER] [--write]`: programs that watch
 * recordings, on one made recording with known changes: changes found, false ones, time, processor time, memory.
 * --python is the Python of an environment with test/bench/peers/requirements.txt; a peer that is missing is skipped,
 * and one that fails or takes too long is reported. Rows are written as they are measured, and a later run with the
 * same --keep measures those alone that are missing. The judge compares times alone, because the peers say no more.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readOptions } from '../../scripts/lib/options.mjs';
import { ROOT } from '../../scripts/lib/shell.mjs';
import { partOf, scenesOf, writeRecording } from './lib/footage-video.mjs';
import { judgeTimes, momentsOfEvents, plantFaults, secondsOf } from './lib/peer-judge.mjs';
import { report, shippedBundle } from './lib/report.mjs';

const { values } = readOptions({
  ...{ python: { type: 'string' }, hour: { type: 'boolean' }, keep: { type: 'string' }, write: { type: 'boolean' } },
  ...{ things: { type: 'string' } },
});
const python = values.python ?? 'python3';
const folder = values.keep ?? mkdtempSync(join(tmpdir(), 'sd-peers-'));
const SCRIPTS = {
  mog2: fileURLToPath(new URL('./peers/mog2.py', import.meta.url)),
  bareLoop: fileURLToPath(new URL('./peers/bare-loop.mjs', import.meta.url)),
  motion: fileURLToPath(new URL('./peers/motion.mjs', import.meta.url)),
};
/** A program that takes longer than this, as a multiple of the recording, is ended and reported. */
const MOST_TIMES = 4;
/** Status of `timeout` for a program that it ended. */
const TOO_LONG = 124;
/** A program that pip installed beside the interpreter. */
const beside = (name) => join(dirname(python), name);
const moduleVersion = (name) =>
  spawnSync(python, ['-c', `import importlib.metadata as m; print(m.version("${name}"))`], { encoding: 'utf8' });

/** Runs a program to its end under GNU time. @returns its output, wall and CPU seconds, peak memory in MB, status */
function timed(command, args) {
  const stats = join(folder, 'time.txt');
  const limited = ['timeout', '-k', '10', String(MOST_TIMES * seconds), command, ...args];
  const run = spawnSync('/usr/bin/time', ['-f', '%e %U %S %M', '-o', stats, ...limited], {
    cwd: ROOT,
    encoding: 'utf8',
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
    name: 'bare loop of onnxruntime, key frames',
    says: 'whether a frame differs from the one before it',
    version: () => ({ status: 0, stdout: shippedBundle() }),
    command: (file) => [process.execPath, [SCRIPTS.bareLoop, file]],
    moments: ({ stdout }) => JSON.parse(stdout),
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
    command: (file) => [python, [SCRIPTS.mog2, file]],
    moments: ({ stdout }) => JSON.parse(stdout),
  },
  {
    name: 'Motion, in real time',
    says: 'begin and end of motion',
    version: () => spawnSync('dpkg-query', ['-W', '-f', '$' + '{Version}', 'motion'], { encoding: 'utf8' }),
    command: (file) => [process.execPath, [SCRIPTS.motion, file]],
    moments: ({ stdout }) => JSON.parse(stdout),
  },
];

const [example] = await scenesOf(undefined);
const scene = { ...example, things: example.things.slice(0, Number(values.things ?? example.things.length)) };
const repeats = values.hour ? 10 : 1;
const seconds = repeats * partOf(scene);
mkdirSync(folder, { recursive: true });
const { file, events } = await writeRecording(folder, scene, repeats);
const truth = momentsOfEvents(events);
plantFaults(truth);

/** Rows by the name and version of their program. */
const ROWS = join(folder, `rows-${seconds}.json`);
const measured = existsSync(ROWS) ? JSON.parse(readFileSync(ROWS, 'utf8')) : {};

/** @returns the row of a program, and a note if it failed */
function measure(peer, version, command, args) {
  const run = timed(command, args);
  const figures = [`${run.wall.toFixed(1)} s`, `${run.cpu.toFixed(1)} s`, `${run.memory.toFixed(0)} MB`];
  const rowOf = (found, wrong) => [peer.name, version, found, wrong, ...figures, peer.says];
  try {
    if (run.status === TOO_LONG) throw new Error(`took longer than ${MOST_TIMES} times the recording`);
    if (run.status !== 0) throw new Error(`ended with ${run.status}: ${run.stderr.trim().split('\n').at(-1)}`);
    const { found, wrong } = judgeTimes(peer.moments(run), truth);
    return { row: rowOf(`${found}/${truth.length}`, String(wrong)), notes: [] };
  } catch (error) {
    return { row: rowOf('failed', ''), notes: [`${peer.name}: ${error.message}`] };
  }
}

function reportAll() {
  const done = Object.values(measured);
  report(
    'peers',
    'Peers: programs that watch recordings, on one made recording with known changes',
    [
      ['program', 'version', 'changes found', 'false', 'time', 'CPU', 'peak memory', 'an answer says'],
      ...done.map(({ row }) => row),
    ],
    [
      `${seconds} s of recording, 1080p H.264, 15 frames per second. Each thing that comes and goes counts as two ` +
        'changes; a change is found if the program names a moment within 2 s of it, and a moment with no change is ' +
        'false. The judge was given no moments, an additional one and a missing one first, and noticed each.',
      'Every program ran with its default settings; its name has the others. Motion plays a file as a camera sends it.',
      ...done.flatMap(({ notes }) => notes),
      ...skipped,
    ],
  );
}

const skipped = [];
for (const peer of PEERS) {
  const { status, stdout } = peer.version();
  const version = stdout?.trim() ?? '';
  const [command, args] = peer.command(file);
  if (status !== 0 || (command.includes('/') && !existsSync(command))) {
    skipped.push(`${peer.name} was skipped: it is not installed.`);
    console.error(skipped.at(-1));
    continue;
  }
  const key = `${peer.name} ${version}`;
  if (measured[key] === undefined) {
    measured[key] = measure(peer, version, command, args);
    writeFileSync(ROWS, JSON.stringify(measured));
  }
  console.error([...measured[key].row, ...measured[key].notes].join(' | '));
  if (values.write) reportAll();
}
if (!values.write) reportAll();
if (values.keep === undefined) rmSync(folder, { recursive: true });
