/**
 * Writer of docs/images/afternoon.webp: runs `scenedelta footage` on the frames of scripts/lib/made-afternoon.mjs, and
 * draws on each frame the sentence and the places of its comparison, and below them the last visit that has ended.
 * Run it when the default bundle changes.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { madeAfternoon } from './lib/made-afternoon.mjs';
import { ROOT, run, runMain, Stop } from './lib/shell.mjs';

const PICTURE = 'docs/images/afternoon.webp';
const SETTINGS = { gap_s: 7_200 };
const DELAY_MS = 500;
const [WIDTH, HEIGHT, BAR] = [640, 480, 104];
/** Letters of a visit's sentence in a line. */
const LINE = 74;
/** Overlap of a change's box with that of a frame, from which its outline is that of the frame. */
const SAME_PLACE = 0.6;

async function main() {
  const folder = mkdtempSync(join(tmpdir(), 'sd-animation-'));
  try {
    const frames = await madeAfternoon();
    const records = await recordsOf(frames, folder);
    const pictures = [];
    for (const [i, frame] of frames.entries()) pictures.push(await drawn(frame, i, records));
    const animation = sharp(pictures, { join: { animated: true } });
    await animation
      .webp({ quality: 70, effort: 4, delay: frames.map(() => DELAY_MS), loop: 0 })
      .toFile(join(ROOT, PICTURE));
    const captions = new Set([...records.visits, ...records.changes].map(({ caption }) => caption));
    console.log(`${[...captions].join('\n')}\nWritten to ${PICTURE}: ${(frames.length * DELAY_MS) / 1000} s`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns {Promise<{ stats: object[], changes: object[], visits: object[] }>} the records of the run */
async function recordsOf(frames, folder) {
  const [input, out, settings] = ['camera', 'out', 'settings.json'].map((name) => join(folder, name));
  mkdirSync(input);
  for (const { at, jpeg } of frames) writeFileSync(join(input, `${nameOf(at)}.jpg`), jpeg);
  writeFileSync(settings, JSON.stringify(SETTINGS));
  const args = ['dist/cli/main.js', 'footage', input, '-c', settings, '-d', out];
  const { ok, output } = await run(process.execPath, args);
  if (!ok) throw new Stop(output);
  const read = (name) => {
    const text = readFileSync(join(out, `${name}.ndjson`), 'utf8');
    return text.split('\n').filter(Boolean).map(JSON.parse);
  };
  return { stats: read('stats'), changes: read('changes'), visits: read('visits') };
}

/** 2026-06-01T13-00-00Z */
const nameOf = (at) => new Date(at).toISOString().replaceAll(':', '-').replace('.000', '');
const clockOf = (at) => new Date(at).toISOString().slice(11, 19);

async function drawn({ at, jpeg }, number, { stats, changes, visits }) {
  // A quiet frame has the answer of the frame that was examined last.
  const { finding, seen } = stats.slice(0, number + 1).findLast(({ examined }) => examined);
  const isChange = finding?.verdict === 'change';
  const places = isChange ? (seen ?? []).filter(({ side }) => side === 'after') : [];
  const open = changes.filter(({ confirmed, reverted }) => isWithin(at, confirmed, reverted));
  const shapes = places.map(({ box }) => shapeOf(box, open));
  const ended = visits.filter(
    ({ kind, gone }) => kind === 'visit' && gone !== null && Date.parse(gone.before.at) <= at,
  );
  const last = ended.toSorted((a, b) => Date.parse(a.gone.before.at) - Date.parse(b.gone.before.at)).at(-1);
  const lines =
    last === undefined ? [] : wrapped(`${clockOf(Date.parse(last.first_seen.at)).slice(0, 5)}  ${last.caption}`);
  const text = (y, size, fill, words) => `<text x="14" y="${y}" font-size="${size}" fill="${fill}">${words}</text>`;
  const overlay = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT + BAR}"
    font-family="DejaVu Sans, sans-serif">
    <rect y="${HEIGHT}" width="${WIDTH}" height="${BAR}" fill="#16191d"/>
    <g fill="#ffd54d" fill-opacity="0.12" stroke="#ffd54d" stroke-width="2">${shapes.join('')}</g>
    ${text(HEIGHT + 31, 19, '#8d99a6', clockOf(at))}
    <text x="120" y="${HEIGHT + 31}" font-size="19" fill="${isChange ? '#ffd54d' : '#8d99a6'}">${finding?.caption ?? ''}</text>
    ${lines.map((line, i) => text(HEIGHT + 62 + i * 22, 15, '#e8ecf0', line)).join('')}
  </svg>`;
  return sharp(jpeg)
    .resize(WIDTH, HEIGHT)
    .extend({ bottom: BAR })
    .composite([{ input: Buffer.from(overlay) }])
    .png()
    .toBuffer();
}

const isWithin = (at, from, until) => Date.parse(from.at) <= at && (until === null || at < Date.parse(until.at));

/** The outline of the open change at this place; without one: the box. */
function shapeOf(box, open) {
  const outlines = open.flatMap(({ outlines = [] }) => outlines.filter(({ side }) => side === 'after'));
  const outline = outlines.find(({ points }) => overlap(boxOf(points), box) > SAME_PLACE);
  if (outline !== undefined) return `<polygon points="${outline.points.map(([x, y]) => [x * WIDTH, y * HEIGHT])}"/>`;
  const { x, y, width, height } = box;
  return `<rect x="${x * WIDTH}" y="${y * HEIGHT}" width="${width * WIDTH}" height="${height * HEIGHT}" rx="6"/>`;
}

function boxOf(points) {
  const [xs, ys] = [0, 1].map((axis) => points.map((point) => point[axis]));
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
}

/** @returns intersection over union */
function overlap(a, b) {
  const along = (at, size) => Math.max(0, Math.min(a[at] + a[size], b[at] + b[size]) - Math.max(a[at], b[at]));
  const common = along('x', 'width') * along('y', 'height');
  return common / (a.width * a.height + b.width * b.height - common);
}

function wrapped(text) {
  const lines = [''];
  for (const word of text.split(' ')) {
    if (`${lines.at(-1)} ${word}`.length > LINE) lines.push('');
    lines.push(`${lines.pop()} ${word}`.trimStart());
  }
  return lines;
}

await runMain(main);
