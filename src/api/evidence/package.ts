/** An evidence package as a stream: the files of one zip, each hashed, and the signed manifest at its end. */
import { createHash, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import { fillTemplate, readTemplate } from '../../base/document-template.js';
import { SIDES } from '../../base/images.js';
import { VERSION } from '../../base/version.js';
import { isoTime } from '../../base/wall-clock.js';
import type { FrameKeeper } from '../../frames/keep.js';
import { servedFrame } from '../../frames/served-frame.js';
import type { Locale } from '../../language/locales.js';
import { DEFAULT_LOCALE, textIn } from '../../language/translate.js';
import { EVIDENCE_FILES, EVIDENCE_FORMAT, type EvidenceManifest } from '../../schemas/evidence.js';
import { roundFigures } from '../../schemas/rounding.js';
import { publicPem } from '../../secrets/evidence-key.js';
import type { StoredComparison } from '../../stores/comparisons/stored-comparison.js';
import type { ApiDependencies } from '../dependencies.js';
import type { Evidence } from './collect.js';
import { evidenceData } from './page-data.js';

type File = readonly [name: string, bytes: Uint8Array];
export interface PackageDependencies extends Pick<ApiDependencies, 'blobs' | 'cameras' | 'clock' | 'documentsFolder'> {
  readonly keeper: FrameKeeper;
}

const clockIn = (field: string) => textIn(DEFAULT_LOCALE, `evidence_clock_${field}`);
/** The clocks behind the times of a package, in the language of its records. */
const clocks = () => ({
  captured_at: clockIn('captured_at'),
  accepted_at: clockIn('accepted_at'),
  made_at: clockIn('made_at'),
});

/**
 * @param key private, Ed25519
 * @param locale language of the page
 * @returns a stream that fails, and is no complete zip, if a frame cannot be read
 */
export function packageOf(evidence: Evidence, key: KeyObject, deps: PackageDependencies, locale: Locale): Readable {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable & { readonly writableNeedDrain: boolean };
  const stop = new AbortController();
  output.once('close', () => stop.abort());
  const madeAt = deps.clock();
  const fill = async () => {
    for await (const [name, bytes] of filesOf(evidence, { key, madeAt, deps, locale })) {
      // Stored as they are: pictures do not shrink, and a reader needs no limit for what others would unpack to.
      zip.addBuffer(Buffer.from(bytes), name, { mtime: new Date(madeAt), compress: false, forceDosTimestamp: true });
      if (output.writableNeedDrain) await once(output, 'drain', { signal: stop.signal });
      stop.signal.throwIfAborted();
    }
    zip.end();
  };
  fill().catch((error: Error) => output.destroy(error));
  return output;
}

async function* filesOf(
  evidence: Evidence,
  { key, madeAt, deps, locale }: { key: KeyObject; madeAt: number; deps: PackageDependencies; locale: Locale },
): AsyncGenerator<File> {
  const files: EvidenceManifest['files'] = {};
  const pictures = new Map<string, string>();
  const missing = [...evidence.missing];
  const hashed = ([name, bytes]: File): File => {
    files[name] = { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
    return [name, bytes];
  };
  const records = [
    ...evidence.changes.map((change) => [`changes/${change.id}`, change] as const),
    ...evidence.visits.map((visit) => [`visits/${visit.id}`, visit] as const),
    ...evidence.comparisons.map((stored) => [`comparisons/${stored.comparison.id}`, timed(stored)] as const),
    [`cameras/${evidence.camera.id}`, evidence.camera] as const,
  ];
  for (const [name, record] of records) yield hashed(json(`${name}.json`, record));
  for (const stored of evidence.comparisons) {
    for (const side of SIDES) {
      const { id } = stored.comparison;
      const frame = await servedFrame(stored, side, deps, deps.keeper);
      const bytes = await frame?.bytes();
      if (frame === null || bytes === undefined) {
        missing.push(`${id}: its frame "${side}" is not kept`);
        continue;
      }
      const name = `frames/${id}-${side}.${frame.contentType.split('/')[1]?.replace('jpeg', 'jpg')}`;
      pictures.set(`${id}-${side}`, name);
      yield hashed([name, bytes]);
    }
  }
  yield hashed(text(EVIDENCE_FILES.key, publicPem(key)));
  const about = { subject: evidence.subject, clocks: clocks(), missing, made_at: isoTime(madeAt), scenedelta: VERSION };
  const template = await readTemplate(deps.documentsFolder, 'evidence');
  const page = evidenceData(evidence, { pictures, ...about }, locale);
  yield hashed(text(EVIDENCE_FILES.page, fillTemplate(template, page)));
  const manifest = json(EVIDENCE_FILES.manifest, {
    format: EVIDENCE_FORMAT,
    ...about,
    files,
  } satisfies EvidenceManifest);
  yield manifest;
  yield text(EVIDENCE_FILES.signature, `${sign(null, manifest[1], key).toString('base64')}\n`);
}

const text = (name: string, content: string): File => [name, Buffer.from(content)];
const json = (name: string, value: unknown): File => text(name, `${JSON.stringify(value, null, 2)}\n`);

/** The comparison with the times of its frame "after" and their source. */
const timed = ({ comparison, request: { turn, acceptedAt } }: StoredComparison) => ({
  ...roundFigures(comparison),
  times: {
    accepted_at: isoTime(acceptedAt),
    captured_at: turn === undefined ? null : isoTime(turn.capturedAt),
    captured_by: turn === undefined ? null : turn.capturedAt === acceptedAt ? 'service' : 'sender',
  },
});
