/**
 * State that the publisher keeps between two starts, in one file: the last event that the broker has confirmed, and the
 * retained messages of each camera, so that they can be removed after the camera or a zone is gone.
 */
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { usage } from '../failure.js';
import { makeFolder, writeAtOnce } from '../files.js';

/** Retained messages of a camera. */
export interface Announced {
  /** discovery topic */
  readonly discovery: string;
  /** retained topics of states and of the picture */
  readonly topics: readonly string[];
  /** platform of each component; those that no longer exist come first, oldest first */
  readonly components: Readonly<Record<string, string>>;
  /** the privacy zones of the picture */
  readonly mask: string;
}

interface Content {
  /** id of an event of the service's stream; null: none yet */
  readonly position: string | null;
  readonly announced: Readonly<Record<string, Announced>>;
}

export type StateFile = Awaited<ReturnType<typeof openState>>;

/** @throws Failure 'usage' if the file cannot be read or written, or is no such file */
export async function openState(file: string) {
  await makeFolder(dirname(file));
  let content = await read(file);
  let saved = JSON.stringify(content);
  const announced = new Map(Object.entries(content.announced));
  /** Writes only what differs. */
  const save = async (): Promise<void> => {
    content = { ...content, announced: Object.fromEntries(announced) };
    const json = JSON.stringify(content);
    if (json === saved) return;
    await writeAtOnce(file, json);
    saved = json;
  };
  return {
    position: () => content.position,
    announced: (): ReadonlyMap<string, Announced> => announced,
    /** Notes an event that needs nothing any more; the next save writes it. */
    pass: (position: string): void => {
      content = { ...content, position };
    },
    save,
    /** @param record null: nothing of the camera is left at the broker */
    async saveAnnounced(camera: string, record: Announced | null): Promise<void> {
      if (record === null) announced.delete(camera);
      else announced.set(camera, record);
      await save();
    },
  };
}

async function read(file: string): Promise<Content> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { position: null, announced: {} };
    throw usage(`${file}: cannot be read (${(error as NodeJS.ErrnoException).code})`, error);
  }
  try {
    const { position, announced } = JSON.parse(text) as Content;
    if ((position === null || typeof position === 'string') && typeof announced === 'object') {
      return { position, announced };
    }
  } catch {
    // reported below
  }
  throw usage(`${file}: expected the state of the publisher; without the file it begins from the start`);
}
