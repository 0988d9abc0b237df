/** Made recordings with known changes: real frames, into which real cut-outs come and go, as H.264 of 1080p. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { ROOT } from '../../../scripts/lib/shell.mjs';

const WIDTH = 1920;
const HEIGHT = 1080;
/**
 * As fixed cameras send: 15 frames per second, a key frame every second, 2 Mbit/s at most (a 1080p setting of common
 * cameras), and frames in the order in which they are shown.
 */
const RATE = 15;
/** Rate of scenes of pairs, of which only key frames are looked at. */
const PAIRS_RATE = 5;
const CAMERA = ['-bf', '0', '-crf', '24', '-maxrate', '2M', '-bufsize', '2M', '-sc_threshold', '0'];
/** With more threads the rate control of x264 depends on which of them is first: each making would differ. */
const REPEATABLE = ['-threads', '1', '-fflags', '+bitexact'];
/** Seconds without a thing, at the begin and at the end of the part that is encoded; longer recordings repeat it. */
const EMPTY = 15;
/** Pixels around a cut-out, over which it fades into the scene. */
const MARGIN = 24;
const FEATHER = 6;
const SIZE = { width: WIDTH, height: HEIGHT };
const RGB = { raw: { ...SIZE, channels: 3 } };

/** The largest 16:9 part of a picture that has the box in it, enlarged. @returns pixels and the box in them */
async function wide(picture, box) {
  const { width, height } = await sharp(picture).metadata();
  const w = Math.min(width, Math.floor((height * 16) / 9));
  const h = Math.min(height, Math.floor((width * 9) / 16));
  const left = Math.round(Math.min(Math.max(0, box[0] + box[2] / 2 - w / 2), width - w));
  const top = Math.round(Math.min(Math.max(0, box[1] + box[3] / 2 - h / 2), height - h));
  return { left, top, width: w, height: h, scale: WIDTH / w };
}

const cropped = (picture, { left, top, width, height }) =>
  sharp(picture)
    .extract({ left, top, width, height })
    .resize(WIDTH, HEIGHT, { fit: 'fill' })
    .removeAlpha()
    .raw()
    .toBuffer();

const placed = ({ left, top, scale }, [x, y, w, h]) => {
  const [x0, y0] = [Math.max(0, (x - left) * scale - MARGIN), Math.max(0, (y - top) * scale - MARGIN)];
  const [x1, y1] = [(x + w - left) * scale + MARGIN, (y + h - top) * scale + MARGIN];
  const rounded = { left: Math.round(x0), top: Math.round(y0) };
  return {
    ...rounded,
    width: Math.round(Math.min(WIDTH, x1)) - rounded.left,
    height: Math.round(Math.min(HEIGHT, y1)) - rounded.top,
  };
};

/** A part of a picture that fades at its borders. @returns a PNG */
async function cutOut(pixels, box) {
  const inner = { width: Math.max(1, box.width - 2 * FEATHER), height: Math.max(1, box.height - 2 * FEATHER) };
  const alpha = await sharp({ create: { ...inner, channels: 3, background: 'white' } })
    .extend({ top: FEATHER, bottom: FEATHER, left: FEATHER, right: FEATHER, background: 'black' })
    .blur(FEATHER / 2)
    .toColourspace('b-w')
    .raw()
    .toBuffer();
  const raw = { width: box.width, height: box.height, channels: 1 };
  return sharp(pixels, RGB).extract(box).joinChannel(alpha, { raw }).png().toBuffer();
}

/** A scene: its picture without things, and cut-outs of things at their places. */
async function exampleScene() {
  const [before, after] = ['before', 'after'].map((side) => join(ROOT, `examples/${side}.jpg`));
  // The woman in the example's after frame, and places at her distance from the camera at which nothing stands.
  const person = [680, 265, 62, 115];
  const part = await wide(after, [...person.slice(0, 1), 140, 62, 360]);
  const [base, full] = [await cropped(before, part), await cropped(after, part)];
  const box = placed(part, person);
  const picture = await cutOut(full, box);
  const shifts = [0, -330, -760, -1180];
  const things = shifts.map((shift) => ({ picture, box: { ...box, left: box.left + shift } }));
  return { name: 'example', base, things, slot: 82, rate: RATE };
}

/** A smaller picture would be enlarged more than five times, px. */
const LEAST_WIDTH = 350;
/** Times that the thing of a pair comes. */
const VISITS = 2;

/**
 * Scenes of labelled pairs (training/README.md has the format) of one thing that came or went: the picture without it,
 * and the thing at its place. Pairs with made nuisances are left out: their two pictures do not lie on each other.
 */
async function pairScenes(folder) {
  const made = [];
  for (const line of readFileSync(join(folder, 'pairs.ndjson'), 'utf8').trim().split('\n')) {
    const pair = JSON.parse(line);
    const [shown, empty] = { appear: ['after', 'before'], disappear: ['before', 'after'] }[pair.kind] ?? [];
    const boxes = shown === undefined || pair.made === true ? [] : pair[`boxes_${shown}`];
    const pictures = boxes.length === 1 ? [empty, shown].map((side) => join(folder, pair[side])) : [];
    const sizes = await Promise.all(pictures.map((picture) => sharp(picture).metadata()));
    if (sizes.length === 0 || sizes[0].width < LEAST_WIDTH || sizes[0].width !== sizes[1].width) continue;
    const [outline] = boxes;
    const part = await wide(pictures[0], outline);
    const box = placed(part, outline);
    if (box.width < 4 * MARGIN || box.height < 4 * MARGIN || box.width < outline[2] * part.scale) continue;
    const picture = await cutOut(await cropped(pictures[1], part), box);
    const things = Array(VISITS).fill({ picture, box });
    const base = await cropped(pictures[0], part);
    made.push({ name: `${pair.scene}_${pair.id}`, scene: pair.scene, base, things, slot: 15, rate: PAIRS_RATE });
  }
  return made;
}

/** @param {string} [folders] of labelled pairs, with commas between them; absent: the example of this repository */
export async function scenesOf(folders) {
  if (folders === undefined) return [await exampleScene()];
  return (await Promise.all(folders.split(',').map(pairScenes))).flat();
}

/** Seconds of the part of a scene that is encoded. */
export const partOf = ({ things, slot }) => 2 * EMPTY + things.length * slot;

/** Begin and end of each thing in a part, seconds; neither is at a key frame. */
const timetable = ({ things, slot }) =>
  things.map((_, i) => {
    const from = EMPTY + 0.4 + i * slot;
    return { from, until: Number((from + Math.min(60, slot * 0.6) + 0.1).toFixed(2)) };
  });

/**
 * Writes the recording of a scene, unless it is there already.
 * @param {object} scene of scenesOf
 * @param {number} repeats of its part
 * @returns {Promise<{ file: string, events: { from: number, until: number, box: object }[] }>} boxes as fractions
 */
export async function writeRecording(folder, scene, repeats) {
  const { name, base, things, rate } = scene;
  mkdirSync(folder, { recursive: true });
  const [part, file] = [join(folder, `part-${name}.mp4`), join(folder, `${name}-${repeats}.mp4`)];
  const length = partOf(scene);
  const times = timetable(scene);
  const shown = things.map((thing, i) => ({ ...thing, ...times[i] }));
  if (!existsSync(part)) await encode(part, base, shown, { seconds: length, rate });
  if (!existsSync(file)) ffmpeg(['-stream_loop', String(repeats - 1), '-i', part, '-c', 'copy', file]);
  const events = Array.from({ length: repeats }, (_, repeat) =>
    things.map(({ box }, i) => ({
      from: times[i].from + repeat * length,
      until: times[i].until + repeat * length,
      box: fractions(box),
    })),
  ).flat();
  return { file, events };
}

/** @returns a box in pixels as fractions of the frame */
export const fractions = ({ left, top, width, height }) => ({
  x: left / WIDTH,
  y: top / HEIGHT,
  width: width / WIDTH,
  height: height / HEIGHT,
});

/**
 * Writes a video of one picture, on which others come and go.
 * @param {Buffer} base pixels of the picture, RGB
 * @param {{ picture: Buffer, box: object, from: number, until: number }[]} shown PNGs at their places; times in seconds
 */
export async function encode(file, base, shown, { seconds, rate }) {
  const still = `${file}.png`;
  await sharp(base, RGB).png().toFile(still);
  const inputs = shown.map(({ picture }, i) => {
    writeFileSync(`${file}-${i}.png`, picture);
    return ['-i', `${file}-${i}.png`];
  });
  const overlays = shown.map(({ box, from, until }, i) => {
    const enable = `enable='between(t,${from},${until})'`;
    return `[v${i}][${i + 1}:v]overlay=${box.left}:${box.top}:${enable}[v${i + 1}];`;
  });
  // The light of a day with clouds, and the noise of a sensor.
  const weather = "eq=brightness='0.015*sin(2*PI*t/90)':eval=frame,noise=c0s=5:c0f=t,format=yuv420p[out]";
  const first = `[0:v]format=yuv420p,loop=-1:1:0,setpts=N/${rate}/TB[v0];`;
  const graph = `${first}${overlays.join('')}[v${shown.length}]${weather}`;
  const coding = ['-c:v', 'libx264', '-preset', 'veryfast', '-g', String(rate), ...CAMERA, ...REPEATABLE];
  ffmpeg([
    ...['-framerate', String(rate), '-i', still, ...inputs.flat(), '-filter_complex', graph, '-map', '[out]'],
    ...[...coding, '-t', String(seconds), '-movflags', '+faststart', `${file}.part.mp4`],
  ]);
  // A folder that is kept has no half of a video.
  renameSync(`${file}.part.mp4`, file);
  for (const made of [still, ...shown.map((_, i) => `${file}-${i}.png`)]) rmSync(made);
}

export const ffmpeg = (args) =>
  execFileSync('ffmpeg', ['-v', 'error', '-nostdin', '-y', ...args], { stdio: ['ignore', 'inherit', 'inherit'] });
