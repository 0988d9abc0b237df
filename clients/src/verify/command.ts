/** `scenedelta verify PACKAGE`: whether an evidence package is as the service made it, without a service. */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { createCommand } from '../command.js';
import { refused, usage } from '../failure.js';
import { readText } from '../files.js';
import { counted, printLine } from '../print.js';

/** The format of packages: docs/evidence.md. The signature is of the bytes of the manifest; no manifest has them. */
const FORMAT = 'scenedelta-evidence/1';
const FILES = { manifest: 'manifest.json', signature: 'manifest.sig', key: 'public-key.pem' } as const;
/** The part of the manifest that is read. */
const ManifestSchema = Type.Object({
  format: Type.Literal(FORMAT),
  /** version of the service */
  scenedelta: Type.String(),
  made_at: Type.String(),
  files: Type.Record(
    Type.String(),
    Type.Object({ bytes: Type.Integer({ minimum: 0 }), sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }) }),
  ),
});
type Manifest = Static<typeof ManifestSchema>;

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
    const trusted = key === undefined ? undefined : publicKey(await readText(key), key);
    const zip = await openPromise(path, { autoClose: false }).catch((error: Error) => refuse(path, error.message));
    try {
      const { manifest, signer, faults } = await check(zip, path, trusted);
      for (const fault of faults) printLine(fault);
      if (faults.length > 0) throw refused(`${path}: ${counted(faults.length, 'fault')}`);
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
  throw refused(`${path}: ${reason}`);
};
/** @throws Failure 'usage', which does not repeat the text */
function publicKey(pem: string, file: string): KeyObject {
  try {
    const key = createPublicKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // reported below
  }
  throw usage(`${file}: expected an Ed25519 key as PEM`);
}
/** @returns a short name of a public key, as ssh-keygen prints it: 'SHA256:' and base64 of the hash of its DER form */
const fingerprintOf = (key: KeyObject): string =>
  `SHA256:${createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('base64')
    .replace(/=+$/, '')}`;
/** A package whose key became unreadable is an altered package; a `--key` of the caller that cannot be read is not. */
function keyInside(pem: Buffer, path: string): KeyObject {
  try {
    return publicKey(pem.toString(), FILES.key);
  } catch {
    return refuse(path, `${FILES.key} is altered`);
  }
}

/** @throws Failure 'refused' if it is no package, or its manifest is not of the signer */
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
  const bytes = await needed(FILES.manifest);
  const signature = Buffer.from((await needed(FILES.signature)).toString(), 'base64');
  const signer = trusted ?? keyInside(await needed(FILES.key), path);
  if (!verify(null, bytes, signer, signature)) {
    const { manifest, signature: signed, key } = FILES;
    const fault = trusted === undefined ? `, or ${key}, is altered` : ' is altered, or signed by another key';
    refuse(path, `${manifest} or ${signed}${fault}`);
  }
  const manifest = jsonOf(bytes);
  if (!Value.Check(ManifestSchema, manifest)) return refuse(path, `${FILES.manifest} is of another format`);

  for (const [name, expected] of Object.entries(manifest.files)) {
    const entry = entries.get(name);
    if (entry === undefined) faults.push(`${name}: missing`);
    else if (!(await isAsSigned(zip, entry, expected))) faults.push(`${name}: altered`);
  }
  const known = new Set([...Object.keys(manifest.files), FILES.manifest, FILES.signature]);
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

async function isAsSigned(zip: ZipFile, entry: Entry, { bytes, sha256 }: Manifest['files'][string]): Promise<boolean> {
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
