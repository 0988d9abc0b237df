/** `scenedelta import FILE`: sets up the cameras of a Frigate or go2rtc in the service. */
import { createCommand, type ServiceOptions, withService } from '../command.js';
import { Failure, refused, usage } from '../failure.js';
import { readText } from '../files.js';
import { printLine } from '../print.js';
import { ok, openService, type Service } from '../service.js';
import { type RecorderCamera, recorderCameras } from './recorder-cameras.js';

interface Options extends ServiceOptions {
  readonly every: string;
  readonly label?: string;
  readonly dryRun?: true;
}

export const command = withService(
  createCommand('import')
    .description(
      'Sets up the cameras of a Frigate or go2rtc by its configuration (YAML): names, addresses and logins. A camera that ' +
        'the service has stays as it is. Placeholders {FRIGATE_...} come from the environment.',
    )
    .argument('<file>', 'config.yml of Frigate, or go2rtc.yaml')
    .option('--every <seconds>', 'seconds between two pictures', '10')
    .option('--label <label>', 'label of the cameras')
    .option('--dry-run', 'only list the cameras'),
  'admin',
).action(run);

async function run(file: string, options: Options): Promise<void> {
  const every = Number(options.every);
  if (!Number.isInteger(every) || every < 1) throw usage(`--every ${options.every}: expected whole seconds`);
  const cameras = recorderCameras(await readText(file), process.env);
  const service = await openService(options);
  let failed = 0;
  for (const camera of cameras) {
    const outcome =
      options.dryRun || 'reason' in camera ? 'listed' : await setUp(camera, { ...options, every }, service);
    const what = 'reason' in camera ? `left out: ${camera.reason}` : camera.url;
    if ('reason' in camera || !['listed', 'set up', 'is there already'].includes(outcome)) failed++;
    printLine(`${camera.id}  ${what}${outcome === 'listed' ? '' : `  ${outcome}`}`);
  }
  if (failed > 0) throw refused(`${failed} of ${cameras.length} cameras were not set up`);
}

/** @returns what became of it */
async function setUp(
  { id, name, url, login }: Extract<RecorderCamera, { url: string }>,
  { every, label }: { readonly every: number; readonly label?: string },
  { api }: Service,
): Promise<string> {
  const params = { path: { id } };
  const existing = await api.GET('/v1/cameras/{id}', { params });
  if (existing.response.ok) return 'is there already';
  try {
    if (existing.response.status !== 404) await ok(Promise.resolve(existing));
    const labels = label === undefined ? [] : [label];
    const snapshot = { url, interval_s: every, ...login };
    await ok(api.PUT('/v1/cameras/{id}', { params, body: { name, labels, snapshot } }));
    return 'set up';
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.kind === 'refused') return thrown.message;
    throw thrown;
  }
}
