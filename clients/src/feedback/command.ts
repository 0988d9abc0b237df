/** `scenedelta feedback`: exports the feedback on changes, with the frames, as a manifest for `scenedelta evaluate`. */
import { dirname, join, resolve } from 'node:path';
import { createCommand, goneOption, type ServiceOptions, withService } from '../command.js';
import { failureOf, refused } from '../failure.js';
import { makeFolder, writeAtOnce } from '../files.js';
import { counted, printError, printLine } from '../print.js';
import { ok, openService, reasonOf, type Service } from '../service.js';

const SIDES = ['before', 'after'] as const;
type Side = (typeof SIDES)[number];

/** The part of a line that is read: files of both frames in the folder, and the paths that serve them. */
type FeedbackLine = Readonly<Record<Side, string>> & { readonly frames: Readonly<Record<Side, string>> };

/** Pairs between two lines that say how far the export is. */
const SAID_EVERY = 100;

export const command = withService(
  createCommand('feedback')
    .description(
      'Reads all feedback from the running service and writes FOLDER/pairs.ndjson, with the frames beside it, for ' +
        '`scenedelta evaluate`. Frames come as the service shows them, masked if their camera has privacy zones. Pairs ' +
        'whose frames are no longer kept are left out.',
    )
    .argument('<folder>', 'folder to write')
    .addOption(goneOption('--url <url>', 'use --api')),
).action(async (folder: string, options: ServiceOptions) => {
  const service = await openService(options);
  const answer = await ok(
    service.api.GET('/v1/feedback', { params: { query: { format: 'ndjson' } }, parseAs: 'text' }),
  );
  const lines = String(answer ?? '')
    .split('\n')
    .filter(Boolean);
  const kept: string[] = [];
  for (const [i, line] of lines.entries()) {
    if (await saveFrames(parseLine(line), resolve(folder), service)) kept.push(`${line}\n`);
    if ((i + 1) % SAID_EVERY === 0) printError(`${i + 1} of ${lines.length} pairs`);
  }
  const manifest = join(folder, 'pairs.ndjson');
  await makeFolder(folder);
  await writeAtOnce(manifest, kept.join(''));
  const gone = lines.length - kept.length;
  const leftOut = gone === 0 ? '' : `; the frames of ${gone} are no longer kept`;
  printLine(`${counted(kept.length, 'pair')} in ${manifest}${leftOut}`);
});

/** Checks a line, because a wrong address may answer anything, and files must be written inside the folder only. */
function parseLine(line: string): FeedbackLine {
  const isLine = (value: unknown): value is FeedbackLine => {
    const { frames, ...files } = (value ?? {}) as Partial<FeedbackLine>;
    return SIDES.every(
      (side) => /^frames\/[\w.-]+$/.test(String(files[side])) && String(frames?.[side]).startsWith('/v1/'),
    );
  };
  try {
    const value: unknown = JSON.parse(line);
    if (isLine(value)) return value;
  } catch {
    // reported below
  }
  throw refused(`expected a line of feedback, got ${JSON.stringify(line.slice(0, 80))}`);
}

/** @returns whether both frames were still kept. */
async function saveFrames(line: FeedbackLine, folder: string, { request }: Service): Promise<boolean> {
  const answers = await Promise.all(SIDES.map((side) => request(line.frames[side])));
  const bodies: Uint8Array[] = [];
  for (const answer of answers) {
    if (answer.status === 404 || answer.status === 410) return false;
    if (!answer.ok)
      throw failureOf(answer.status, `${answer.url} answered ${answer.status}: ${await reasonOf(answer)}`);
    bodies.push(new Uint8Array(await answer.arrayBuffer()));
  }
  for (const [i, side] of SIDES.entries()) {
    const path = resolve(folder, line[side]);
    await makeFolder(dirname(path));
    await writeAtOnce(path, bodies[i] ?? new Uint8Array());
  }
  return true;
}
