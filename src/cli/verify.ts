/** `scenedelta verify PACKAGE`: whether an evidence package is as the service made it, without a service. */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { Value } from 'typebox/value';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { counted } from '../counted.js';
import { invalidRequest, invalidValue } from '../errors.js';
import { ed25519, fingerprintOf } from '../evidence-key.js';
import { EVIDENCE_FILES, type EvidenceManifest, EvidenceManifestSchema } from '../schemas/evidence.js';
import { createCommand } from './command.js';
import { printLine } from './print.js';

/** Bytes of the files that are read before their hash is known. */
const LONGEST = 4 * 1024 * 1024;

export const command = createCommand('verify')
  .description(
    'Checks an evidence package: the hash of each file, and the signature. It names every file that was altered, is ' +
      'missing or is additional; then the status is 1.',
  )
  .argument('<package>', 'zip of GET /v1/evidence')
  .option('--key <file>', 'public key of the service (GET /v1/evidence/key); default: the one in the package')
  .action(async (path: string, { key }: { key?: string }) => {
    const trusted = key === undefined ? undefined : publicKey(await read(key), key);
    const zip = await openPromise(path, { autoClose: false }).catch((error: Error) => refuse(path, error.message));
    try {
      const { manifest, signer, faults } = await check(zip, path, trusted);
      for (const fault of faults) printLine(fault);
      if (faults.length > 0) throw invalidValue(`${path}: ${counted(faults.length, 'fault')}`);
      printLine(
        `${counted(Object.keys(manifest.files).length, 'file is', 'files are')} as ` +
          `${manifest.made_at} (service ${manifest.scenedelta})`,
      );
      const trust = key === undefined ? ', the key in the package: compare it with that of the service' : '';
      printLine(`signed by ${fingerprintOf(signer)}${trust}`);
    } finally {
      zip.close();
    }
  });

const refuse = (path: string, reason: string): never => {
  throw invalidValue(`${path}: ${reason}`);
};
const read = (path: string): Promise<string> =>
  readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw invalidRequest(`${path}: cannot be read (${error.code})`);
  });
const publicKey = (pem: string, file: string): KeyObject => ed25519((text) => createPublicKey(text), pem, file);
/** A package whose key became unreadable is an altered package; a `--key` of the caller that cannot be read is not. */
function keyInside(pem: Buffer, path: string): KeyObject {
  try {
    return publicKey(pem.toString(), EVIDENCE_FILES.key);
  } catch {
    return refuse(path, `${EVIDENCE_FILES.key} is altered`);
  }
}

/** @throws ScenedeltaError 'invalid-value' if it is no package, or its manifest is not of the signer */
async function check(zip: ZipFile, path: string, trusted: KeyObject | undefined) {
  const faults: string[] = [];
  const entries = new Map<string, Entry>();
  try {
    for await (const entry of zip.eachEntry()) {
      if (entries.has(entry.fileName)) faults.push(`${entry.fileName}: additional, it is there twice`);
      entries.set(entry.fileName, entry);
    }
  } catch (thrown) {
    refuse(path, (thrown as Error).message);
  }
  const needed = async (name: string): Promise<Buffer> => {
    const entry = entries.get(name) ?? refuse(path, `${name} is missing`);
    if (entry.uncompressedSize > LONGEST || isPacked(entry)) refuse(path, `${name} is altered`);
    return contentOf(zip, entry).catch((error: Error) => refuse(path, `${name} is altered (${error.message})`));
  };
  const bytes = await needed(EVIDENCE_FILES.manifest);
  const signature = Buffer.from((await needed(EVIDENCE_FILES.signature)).toString(), 'base64');
  const signer = trusted ?? keyInside(await needed(EVIDENCE_FILES.key), path);
  if (!verify(null, bytes, signer, signature)) {
    const { manifest, signature: signed, key } = EVIDENCE_FILES;
    const fault = trusted === undefined ? `, or ${key}, is altered` : ' is altered, or signed by another key';
    refuse(path, `${manifest} or ${signed}${fault}`);
  }
  const manifest = jsonOf(bytes);
  if (!Value.Check(EvidenceManifestSchema, manifest))
    return refuse(path, `${EVIDENCE_FILES.manifest} is of another format`);

  for (const [name, expected] of Object.entries(manifest.files)) {
    const entry = entries.get(name);
    if (entry === undefined) faults.push(`${name}: missing`);
    else if (!(await isAsSigned(zip, entry, expected))) faults.push(`${name}: altered`);
  }
  const known = new Set([...Object.keys(manifest.files), EVIDENCE_FILES.manifest, EVIDENCE_FILES.signature]);
  for (const name of entries.keys()) if (!known.has(name)) faults.push(`${name}: additional`);
  if (zip.fileSize !== sizeOf([...entries.values()])) faults.push('bytes that belong to no file: additional');
  return { manifest, signer, faults };
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

/** Packages have their files as they are; what would have to be unpacked may be of any size. */
const isPacked = (entry: Entry): boolean => entry.compressionMethod !== 0;
const contentOf = async (zip: ZipFile, entry: Entry): Promise<Buffer> => buffer(await zip.openReadStreamPromise(entry));

async function isAsSigned(
  zip: ZipFile,
  entry: Entry,
  { bytes, sha256 }: EvidenceManifest['files'][string],
): Promise<boolean> {
  if (isPacked(entry) || entry.uncompressedSize !== bytes) return false;
  try {
    // Programs that unpack from the beginning read this name.
    const { fileName } = await zip.readLocalFileHeaderPromise(entry);
    if (fileName.toString() !== entry.fileName) return false;
    const hash = createHash('sha256');
    for await (const chunk of await zip.openReadStreamPromise(entry)) hash.update(chunk as Buffer);
    return hash.digest('hex') === sha256;
  } catch {
    return false;
  }
}

/** @returns bytes of a zip of these files and nothing else: two headers per file, and the end of the directory */
const sizeOf = (entries: readonly Entry[]): number =>
  entries.reduce((sum, { fileNameRaw, uncompressedSize }) => sum + 76 + 2 * fileNameRaw.length + uncompressedSize, 22);
