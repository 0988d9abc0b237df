/** Zip archives as tests read and write them. */
import { buffer } from 'node:stream/consumers';
import { type Entry, fromBufferPromise, type ZipFile as OpenZip } from 'yauzl';
import { ZipFile } from 'yazl';

/** @returns an open archive with its entries, in their order */
export async function opened(bytes: Buffer): Promise<{ zip: OpenZip; entries: Entry[] }> {
  const zip = await fromBufferPromise(bytes);
  const entries: Entry[] = [];
  for await (const entry of zip.eachEntry()) entries.push(entry);
  return { zip, entries };
}
/** @returns the files by their names */
export async function contentsOf(bytes: Buffer): Promise<Map<string, Buffer>> {
  const { zip, entries } = await opened(bytes);
  const contents = new Map<string, Buffer>();
  for (const entry of entries) contents.set(entry.fileName, await buffer(await zip.openReadStreamPromise(entry)));
  return contents;
}
const PLAIN = { compress: false, forceDosTimestamp: true };
/** Packs the files as the service does, except for the changes of a test. */
export function repacked(files: Iterable<readonly [string, Buffer]>, packs: (name: string) => boolean = () => false) {
  const zip = new ZipFile();
  for (const [name, bytes] of files) zip.addBuffer(bytes, name, { ...PLAIN, compress: packs(name) });
  zip.end();
  return buffer(zip.outputStream as NodeJS.ReadableStream);
}
