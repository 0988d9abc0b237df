/** `scenedelta feedback`: exports the feedback on changes, with the frames, as a manifest for `scenedelta evaluate`. */
import { dirname, join, resolve } from 'node:path';
import { loadConfig } from '../config.js';
import { counted } from '../counted.js';
import { urlFailed } from '../errors.js';
import { SIDES } from '../images.js';
import { publicBaseUrl } from '../links.js';
import type { FeedbackLine } from '../schemas/feedback-manifest.js';
import { baseUrl, bearer, createApiRequest, keyOf, reasonOf } from './api-client.js';
import { createCommand } from './command.js';
import { printLine } from './print.js';
import { startProgress } from './progress.js';
import { makeFolder, writeAtOnce } from './write-at-once.js';

interface Options {
  readonly url?: string;
  readonly keyFile?: string;
}

export const command = createCommand('feedback')
  .description(
    'Reads all feedback from the running service and writes FOLDER/pairs.ndjson, with the frames beside it, for ' +
      '`scenedelta evaluate`. Frames come as the service shows them, masked if their camera has privacy zones. Pairs ' +
      'whose frames are no longer kept are left out.',
  )
  .argument('<folder>', 'folder to write')
  .option('--url <url>', 'address of the API; default: PUBLIC_URL, else http://HOST:PORT')
  .option('--key-file <file>', 'file with an API key; default: first-key in DATA_DIR, if it exists')
  .action(async (folder: string, { url, keyFile }: Options) => {
    const config = loadConfig();
    const base = baseUrl(url ?? publicBaseUrl(config), url === undefined ? 'PUBLIC_URL' : '--url');
    const read = reader(base, await keyOf(config, keyFile));

    const lines = (await (await read('/v1/feedback?format=ndjson')).text()).split('\n').filter(Boolean);
    const progress = startProgress(lines.length, 'pairs');
    const kept: string[] = [];
    for (const line of lines) {
      if (await saveFrames(parseLine(line), resolve(folder), read)) kept.push(`${line}\n`);
      progress.step();
    }
    progress.end();
    const manifest = join(folder, 'pairs.ndjson');
    await makeFolder(folder);
    await writeAtOnce(manifest, kept.join(''));
    const gone = lines.length - kept.length;
    const leftOut = gone === 0 ? '' : `; the frames of ${gone} are no longer kept`;
    printLine(`${counted(kept.length, 'pair')} in ${manifest}${leftOut}`);
  });

type Read = (path: string, accepted?: readonly number[]) => Promise<Response>;

/** @returns a function that GETs a path; it throws ScenedeltaError if the service cannot be reached or refuses. */
function reader(base: string, key: string | undefined): Read {
  const request = createApiRequest(base, bearer(key));
  return async (path, accepted = [200]) => {
    const response = await request(path);
    if (accepted.includes(response.status)) return response;
    throw urlFailed(`${base}${path} answered ${response.status}: ${await reasonOf(response)}`);
  };
}

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
  throw urlFailed(`expected a line of feedback, got ${JSON.stringify(line.slice(0, 80))}`);
}

/** @returns whether both frames were still kept. */
async function saveFrames(line: FeedbackLine, folder: string, read: Read): Promise<boolean> {
  const answers = await Promise.all(SIDES.map((side) => read(line.frames[side], [200, 404, 410])));
  const bodies = await Promise.all(answers.map((answer) => answer.arrayBuffer()));
  if (answers.some(({ status }) => status !== 200)) return false;
  for (const [i, side] of SIDES.entries()) {
    const path = resolve(folder, line[side]);
    await makeFolder(dirname(path));
    await writeAtOnce(path, new Uint8Array(bodies[i] ?? new ArrayBuffer(0)));
  }
  return true;
}
