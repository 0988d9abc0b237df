/** Folders of recordings with random faults, the same for the same seed. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { seededRandom } from '../../dist/base/random.js';

export const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'];
const DAY = 86_400_000;
const STARTS = [
  ...[
    Date.UTC(2026, 5, 1, 12),
    Date.UTC(2026, 9, 25, 0, 50),
    Date.UTC(2026, 2, 29, 0, 50),
    Date.UTC(2025, 11, 31, 23, 59),
  ],
  Date.UTC(2026, 10, 1, 5, 40),
];

/** @returns bytes of pictures and clips, sound and damaged, by name; made once for all folders */
export async function makeParts(folder, ffmpeg) {
  const noise = (width, height, mean) =>
    sharp({ create: { width, height, channels: 3, background: 'grey', noise: { type: 'gaussian', mean, sigma: 20 } } });
  const jpg = await noise(96, 64, 100).jpeg().toBuffer();
  const clip = async (name) => {
    const path = join(folder, name);
    const input = ['-f', 'lavfi', '-i', 'testsrc2=s=96x64:r=4:d=5'];
    const coding = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '4', '-pix_fmt', 'yuv420p'];
    await promisify(execFile)(ffmpeg, ['-v', 'error', '-nostdin', '-y', ...input, ...coding, path]);
    return readFile(path);
  };
  const mp4 = await clip('part.mp4');
  const exif = (text) =>
    noise(96, 64, 120)
      .jpeg()
      .withExif({ IFD2: { DateTimeOriginal: text } })
      .toBuffer();
  return {
    jpg: [
      ...[
        jpg,
        jpg,
        await noise(96, 64, 140).jpeg().toBuffer(),
        jpg.subarray(0, -2),
        Buffer.concat([Buffer.from('\r\n'), jpg]),
      ],
      ...[
        jpg.subarray(0, Math.floor(jpg.length * 0.6)),
        jpg.subarray(0, 40),
        Buffer.alloc(0),
        Buffer.from('no picture'),
      ],
      ...[await noise(64, 64, 100).jpeg().toBuffer(), await noise(8, 8, 100).jpeg().toBuffer()],
      ...[await exif('2026:06:01 12:00:10'), await exif('0000:00:00 00:00:00'), await exif('2099:01:01 00:00:00')],
      await sharp({ create: { width: 96, height: 64, channels: 3, background: 'blue' } })
        .jpeg()
        .toBuffer(),
    ],
    mp4: [mp4, mp4, mp4.subarray(0, Math.floor(mp4.length / 2)), mp4.subarray(0, 30), Buffer.alloc(0), withLength(mp4)],
  };
}

/** The header states 45 days. */
function withLength(mp4) {
  const bytes = Buffer.from(mp4);
  const header = bytes.indexOf('mvhd');
  bytes.writeUInt32BE(1, header + 16);
  bytes.writeUInt32BE(45 * 86_400, header + 20);
  return bytes;
}

const two = (number) => String(number).padStart(2, '0');
/** Names of files as cameras and recorders give them, and others. */
const NAMES = [
  (t) => `${t.y}-${t.m}-${t.d}/${t.H}/gate/${t.M}.${t.S}.${t.ext}`,
  (t) => `crk/192.168.88.67_01_${t.y}${t.m}${t.d}${t.H}${t.M}${t.S}${two(t.n)}0_TIMING.${t.ext}`,
  (t) => `dahua/${t.y}-${t.m}-${t.d}/pic_001/${t.H}.${t.M}.${t.S}[M][0@0][${t.n}].${t.ext}`,
  (t) => `zm/5/${t.y.slice(2)}/${t.m}/${t.d}/${t.H}/${t.M}/${t.S}/${t.n}-capture.${t.ext}`,
  (t) => `axis/image${t.y.slice(2)}-${t.m}-${t.d}_${t.H}-${t.M}-${t.S}-${two(t.n)}.${t.ext}`,
  (t) => `yard/yard_01_${t.y}${t.m}${t.d}${t.H}${t.M}${t.S}.${t.ext}`,
  (t) => `foscam/MDAlarm_${t.y}${t.m}${t.d}-${t.H}${t.M}${t.S}.${t.ext}`,
  (t) => `burst/${t.y}${t.m}${t.d}_${t.H}${t.M}${t.S}_${['pre', 'trg', 'pos'][t.n % 3]}${t.n}.${t.ext}`,
  (t) => `unifi/Front Door ${t.m}-${t.d}-${t.y}, ${Number(t.H) % 12 || 12}.${t.M}.${t.S} PM GMT+1.${t.ext}`,
  (t) => `yard/img${t.n}.${t.ext}`,
  (t) => `Ünïcode – kamera/${t.y}${t.m}${t.d}T${t.H}${t.M}${t.S}.${t.ext.toUpperCase()}`,
  (t) => `${'x'.repeat(80)}/${t.y}${t.m}${t.d}${t.d}${t.H}.${t.ext}`,
];

/** Another clock than that of the scene: lost, of another zone, back, ahead. */
const CLOCKS = [
  (at) => at,
  (at) => at,
  (at) => at,
  (at) => at - Date.UTC(2026, 5, 1),
  (at) => at - 3_600_000,
  (at) => at + 80 * 365 * DAY,
];

export async function makeFolder(folder, seed, parts) {
  const random = seededRandom(seed);
  const pick = (list) => list[Math.floor(random.uniform(0, list.length))];
  const style = pick(NAMES);
  const files = 2 + Math.floor(random.uniform(0, 9));
  await mkdir(folder, { recursive: true });
  for (let n = 0, at = pick(STARTS); n < files; n++) {
    at += pick([0, 0, 1_000, 2_000, 10_000, 60_000, 1_200_000, DAY]);
    const stated = new Date(pick(CLOCKS)(at));
    const [y, m, d, H, M, S] = stated.toISOString().split(/\D/);
    const ext = random.uniform(0, 1) < 0.1 ? 'mp4' : 'jpg';
    const name = (random.uniform(0, 1) < 0.8 ? style : pick(NAMES))({ y, m, d, H, M, S, n, ext });
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, pick(parts[ext]));
    const modified = random.uniform(0, 1) < 0.2 ? stated : new Date(at);
    await utimes(path, modified, modified);
  }
}
