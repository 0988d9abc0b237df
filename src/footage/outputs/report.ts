/**
 * report.html: one page that needs no network, with a timeline, filters, and the pictures of every change. Its text is
 * yielded in parts, one picture at a time, so that a large report needs little memory. console/src/documents/report
 * shows it.
 */
import { readTemplate } from '../../base/document-template.js';
import type { Box } from '../../base/images.js';
import { decodeToFit } from '../../frames/decode.js';
import sharp from '../../frames/sharp.js';
import { thumbnail } from '../../frames/thumbnail.js';
import type { FootageChange } from '../records.js';
import { visitsOfChanges } from './grouping.js';
import type { Recording } from './recording.js';
import { reportData, reportHead } from './report-data.js';
import { highlightsOf } from './report-strip.js';

export interface ReportOptions {
  /** bytes of a picture by its path in the records; null if it is not kept any more */
  readonly readPicture: (path: string) => Promise<Uint8Array | null>;
  /** folder of the templates of documents; tests give the one in dist */
  readonly documents?: URL;
}

/** Changes above which pictures are smaller, so that a thousand changes stay a file that a browser opens at once. */
const LARGE = 200;
/** Longer side, px. */
const SIDES = { small: 320, full: 560 };
const QUALITY = 62;
/** Largest picture in the folder, px in all: the run wrote it, but the folder may come from another machine. */
const PIXEL_LIMIT = 200_000_000;
/** Bytes of embedded pictures; further changes are listed without pictures. */
const MAX_PICTURE_BYTES = 64 * 1024 * 1024;

export async function* reportPage(recording: Recording, options: ReportOptions): AsyncGenerator<string> {
  const template = await readTemplate(options.documents ?? new URL('../../documents/', import.meta.url), 'report');
  yield template.begin(reportHead(recording));
  const numbers = new Map<string, number>();
  let left = MAX_PICTURE_BYTES;
  for (const path of picturesOf(recording)) {
    const picture = left <= 0 ? null : await small(await options.readPicture(path), recording.changes.length);
    if (picture === null) continue;
    const { data, info } = picture;
    left -= data.length;
    const number = numbers.size;
    numbers.set(path, number);
    yield `<script type="text/plain" id="picture-${number}" data-width="${info.width}" data-height="${info.height}">`;
    yield `${data.toString('base64')}</script>\n`;
  }
  const highlights = highlightsOf(recording, visitsOfChanges(recording.changes, recording.visits));
  const crops = new Map<string, number>();
  for (const { id, picture, box } of highlights) {
    const crop = picture === null || left <= 0 ? null : await cropOf(await options.readPicture(picture), box);
    if (crop === null) continue;
    left -= crop.length;
    const number = numbers.size + crops.size;
    crops.set(id, number);
    yield `<script type="text/plain" id="picture-${number}">${crop.toString('base64')}</script>\n`;
  }
  const numberOf = (path: string | null) => (path === null ? null : (numbers.get(path) ?? null));
  yield template.end(reportData(recording, { numberOf, highlights, crops }));
}

/** The pictures of the visits come first: if there are too many, those of the changes are left out. */
const picturesOf = ({ visits, changes }: Recording): Set<string> =>
  new Set([
    ...visits.flatMap(({ kind, shown }) => (kind === 'visit' && shown !== null ? [shown.picture] : [])),
    ...changes.flatMap(({ pictures }) => pathsOf(pictures)),
  ]);

const pathsOf = ({ before, after }: FootageChange['pictures']): string[] =>
  [before, after].filter((path) => path !== null);

/** Longer side of a crop, px: a sixth of a page, with two device pixels per pixel. */
const CROP_SIDE = 320;

/** @returns null for a picture that is gone or cannot be read */
const cropOf = async (bytes: Uint8Array | null, box: Box | null): Promise<Buffer | null> =>
  bytes === null
    ? null
    : thumbnail(bytes, {
        ...{ field: 'picture', pixelLimit: PIXEL_LIMIT, longest: CROP_SIDE },
        around: box ?? undefined,
      }).catch(() => null);

/** @returns null for a picture that is gone or cannot be read: its change is still listed */
async function small(bytes: Uint8Array | null, changes: number) {
  if (bytes === null) return null;
  const side = changes > LARGE ? SIDES.small : SIDES.full;
  const image = await decodeToFit(bytes, side, { field: 'picture', pixelLimit: PIXEL_LIMIT }).catch(() => null);
  if (image === null) return null;
  const { data, width, height } = image;
  return sharp(data, { raw: { width, height, channels: 3 } })
    .jpeg({ quality: QUALITY })
    .toBuffer({ resolveWithObject: true });
}
