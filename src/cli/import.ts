/** `scenedelta import FILE`: sets up the cameras of a Frigate or go2rtc in the service. */
import { readFile } from 'node:fs/promises';
import { FRIGATE_VARIABLES, loadConfig } from '../config.js';
import { invalidRequest, ScenedeltaError } from '../errors.js';
import { type ApiRequest, baseUrl, bearer, createApiRequest, keyOf, reasonOf } from './api-client.js';
import { createCommand } from './command.js';
import { printLine } from './print.js';
import { type RecorderCamera, recorderCameras } from './recorder-cameras.js';

interface Options {
  readonly api: string;
  readonly keyFile?: string;
  readonly every: string;
  readonly label?: string;
  readonly dryRun?: true;
}

export const command = createCommand('import')
  .description(
    'Sets up the cameras of a Frigate or go2rtc by its configuration (YAML): names, addresses and logins. A camera that ' +
      'the service has stays as it is. Placeholders {FRIGATE_...} come from the environment.',
  )
  .argument('<file>', 'config.yml of Frigate, or go2rtc.yaml')
  .option('--api <url>', 'address of the service', 'http://127.0.0.1:8080')
  .option('--key-file <file>', 'file with an API key of the scope admin; default: first-key in DATA_DIR')
  .option('--every <seconds>', 'seconds between two pictures', '10')
  .option('--label <label>', 'label of the cameras')
  .option('--dry-run', 'only list the cameras')
  .action(run);

async function run(file: string, options: Options): Promise<void> {
  const every = Number(options.every);
  if (!Number.isInteger(every) || every < 1) throw invalidRequest(`--every ${options.every}: expected whole seconds`);
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new ScenedeltaError('invalid-request', `${file}: cannot be read`, { cause });
  });
  const cameras = recorderCameras(text, FRIGATE_VARIABLES);
  const key = bearer(await keyOf(loadConfig(), options.keyFile));
  const request = createApiRequest(baseUrl(options.api, '--api'), key);
  let failed = 0;
  for (const camera of cameras) {
    const outcome =
      options.dryRun || 'reason' in camera ? 'listed' : await setUp(camera, { ...options, every }, request);
    const what = 'reason' in camera ? `left out: ${camera.reason}` : camera.url;
    if ('reason' in camera || !['listed', 'set up', 'is there already'].includes(outcome)) failed++;
    printLine(`${camera.id}  ${what}${outcome === 'listed' ? '' : `  ${outcome}`}`);
  }
  if (failed > 0) throw invalidRequest(`${failed} of ${cameras.length} cameras were not set up`);
}

/** @returns what became of it */
async function setUp(
  { id, name, url, login }: Extract<RecorderCamera, { url: string }>,
  { every, label }: { readonly every: number; readonly label?: string },
  request: ApiRequest,
): Promise<string> {
  const path = `/v1/cameras/${id}`;
  const known = await request(path);
  if (known.ok) return 'is there already';
  if (known.status !== 404) return reasonOf(known);
  const settings = {
    name,
    labels: label === undefined ? [] : [label],
    snapshot: { url, interval_s: every, ...login },
  };
  const headers = { 'content-type': 'application/json' };
  const answer = await request(path, { method: 'PUT', headers, body: JSON.stringify(settings) });
  return answer.ok ? 'set up' : reasonOf(answer);
}
