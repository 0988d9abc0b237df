/** The manifest of an evidence package, the names of the files that every package has, and a package to be uploaded. */

export const EVIDENCE_FORMAT = 'scenedelta-evidence/1';
/** The signature is of the bytes of the manifest; both are in no manifest. */
export const EVIDENCE_FILES = {
  manifest: 'manifest.json',
  signature: 'manifest.sig',
  key: 'public-key.pem',
  page: 'index.html',
} as const;

export interface EvidenceManifest {
  readonly format: typeof EVIDENCE_FORMAT;
  /** version of the service */
  readonly scenedelta: string;
  /** RFC 3339 */
  readonly made_at: string;
  /** the change, the visit, or the camera and time range that were asked for */
  readonly subject: Readonly<Record<string, string>>;
  /** the clock behind each kind of time */
  readonly clocks: Readonly<Record<string, string>>;
  /** parts that the service no longer kept, as sentences */
  readonly missing: readonly string[];
  readonly files: Record<string, { readonly bytes: number; readonly sha256: string }>;
}

/** A package that is stored for its upload. */
export interface EvidencePackage {
  /** of the object that it becomes */
  readonly name: string;
  /** key of the blob */
  readonly blob: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Hours for which a package is stored, so that its upload can be tried again. */
export const PACKAGE_KEPT_HOURS = 168;
