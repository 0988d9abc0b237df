/** The handled events in a file, so that the companion goes on after an interruption. */
import { readFile } from 'node:fs/promises';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { usage } from '../failure.js';
import { writeAtOnce } from '../files.js';

const ProgressSchema = Type.Object({
  v: Type.Literal(1),
  /** all events that began before are handled; seconds since 1970 */
  after: Type.Number(),
  /** handled events that began later: their beginning by id */
  handled: Type.Record(Type.String(), Type.Number()),
});
export type Progress = Static<typeof ProgressSchema>;

/**
 * @returns undefined if the file does not exist
 * @throws Failure 'usage' if it is no such file: the events must not be handled again by mistake
 */
export async function readProgress(file: string): Promise<Progress | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw usage(`${file}: cannot be read`, error);
  }
  try {
    const value: unknown = JSON.parse(text);
    if (Value.Check(ProgressSchema, value)) return value;
  } catch {
    // reported below
  }
  throw usage(`${file}: expected the state of an earlier run; remove it to start over`);
}

export const writeProgress = (file: string, progress: Progress): Promise<void> =>
  writeAtOnce(file, `${JSON.stringify(progress)}\n`);
