/** `scenedelta import FILE`: sets up the cameras of a Frigate or go2rtc in the service. */
import { createCommand, type ServiceOptions, withService } from '../command.js';
import { refused } from '../failure.js';
import { readText } from '../files.js';
import { printLine } from '../print.js';
import { openService } from '../service.js';
import { createSetUp, type SetUpOptions, withSetUp } from '../set-up-camera.js';
import { recorderCameras } from './recorder-cameras.js';

interface Options extends ServiceOptions, SetUpOptions {
  readonly dryRun?: true;
}

export const command = withService(
  withSetUp(createCommand('import'))
    .description(
      'Sets up the cameras of a Frigate or go2rtc by its configuration (YAML): names, addresses and logins. A camera that ' +
        'the service has stays as it is. Placeholders {FRIGATE_...} come from the environment.',
    )
    .argument('<file>', 'config.yml of Frigate, or go2rtc.yaml')
    .option('--dry-run', 'only list the cameras'),
  'admin',
).action(run);

async function run(file: string, options: Options): Promise<void> {
  const setUp = createSetUp(options, await openService(options));
  const cameras = recorderCameras(await readText(file), process.env);
  let failed = 0;
  for (const camera of cameras) {
    if ('reason' in camera) {
      failed++;
      printLine(`${camera.id}  left out: ${camera.reason}`);
      continue;
    }
    const outcome = options.dryRun ? '' : await setUp(camera);
    if (typeof outcome === 'object') failed++;
    printLine(`${camera.id}  ${camera.url}  ${typeof outcome === 'object' ? outcome.reason : outcome}`.trimEnd());
  }
  if (failed > 0) throw refused(`${failed} of ${cameras.length} cameras were not set up`);
}
