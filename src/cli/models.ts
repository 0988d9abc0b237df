/** `scenedelta models`: lists the bundles, checks that they are complete, and shows their metrics. */
import type { Bundle } from '../model/manifest.js';
import { loadBundles } from '../pipeline/bundles.js';
import { loadConfig } from '../process/config.js';
import { createCommand } from './command.js';
import { withBundles } from './config-with.js';
import { printError, printLine } from './print.js';

export const command = createCommand('models')
  .description(
    'Lists the bundles in MODELS_DIR after checking their manifests and file hashes. A broken one is named on ' +
      'stderr, and the exit status is 1.',
  )
  .option('--json', 'print them as JSON, with their metrics and training data')
  .action(async ({ json }: { json?: true }) => {
    const config = loadConfig();
    const error = ({ reason }: { reason: string }) => {
      process.exitCode = 1;
      printError(`broken: ${reason}`);
    };
    const bundles = await withBundles(config, loadBundles(config.modelsDir, config.defaultModel, { error }));
    if (json) printLine(JSON.stringify(bundles.map(describe), null, 2));
    else for (const bundle of bundles) printLine(line(bundle, config.defaultModel));
  });

function describe({ manifest, sha256 }: Bundle) {
  const { name, version, architecture, licence, metrics, training_data } = manifest;
  return { name, version, sha256, architecture, licence, metrics, training_data };
}

function line({ manifest, sha256 }: Bundle, defaultModel: string): string {
  const { name, version, architecture, licence } = manifest;
  const columns = [name, version, architecture, licence, sha256.slice(0, 12)];
  return [...columns, ...(name === defaultModel ? ['(default)'] : [])].join('  ');
}
