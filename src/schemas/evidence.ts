/** The manifest of an evidence package, and the names of the files that every package has. */
import { type Static, Type } from 'typebox';
import { dateTime } from './constructors.js';

export const EVIDENCE_FORMAT = 'scenedelta-evidence/1';
/** The signature is of the bytes of the manifest; both are in no manifest. */
export const EVIDENCE_FILES = {
  manifest: 'manifest.json',
  signature: 'manifest.sig',
  key: 'public-key.pem',
  page: 'index.html',
} as const;

export const EvidenceManifestSchema = Type.Object({
  format: Type.Literal(EVIDENCE_FORMAT),
  /** version of the service */
  scenedelta: Type.String(),
  made_at: dateTime(),
  /** the change, the visit, or the camera and time range that were asked for */
  subject: Type.Record(Type.String(), Type.String()),
  /** the clock behind each kind of time */
  clocks: Type.Record(Type.String(), Type.String()),
  /** parts that the service no longer kept, as sentences */
  missing: Type.Array(Type.String()),
  files: Type.Record(
    Type.String(),
    Type.Object({ bytes: Type.Integer({ minimum: 0 }), sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }) }),
  ),
});
export type EvidenceManifest = Static<typeof EvidenceManifestSchema>;
