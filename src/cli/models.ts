/** `scenedelta models`: which bundles there are, whether they are whole, and what was measured on them. */
import { parseArgs } from 'node:util';
import { loadConfig } from '../config.js';
import type { Bundle } from '../model/manifest.js';
import { loadBundles } from '../pipeline/bundles.js';
import type { Command } from './command.js';
import { withBundles } from './with-bundles.js';

export const command: Command = {
  usage: `models [--json]

Lists the bundles in MODELS_DIR after checking their manifests and file hashes. A broken one is named on stderr, and the
exit status is 1.
  --json  print them as JSON, with their metrics and training data`,
  async run(args) {
    const { values } = parseArgs({ args, options: { json: { type: 'boolean', default: false } } });
    const config = loadConfig();
    let broken = 0;
    const error = ({ reason }: { reason: string }) => {
      broken++;
      console.error(`broken: ${reason}`);
    };
    const warn = ({ model }: { model: string }, message: string) => console.error(`${model}: ${message}`);
    const bundles = await withBundles(loadBundles(config.modelsDir, config.defaultModel, { warn, error }));
    if (values.json) console.log(JSON.stringify(bundles.map(describe), null, 2));
    else for (const bundle of bundles) console.log(line(bundle, config.defaultModel));
    return broken === 0 ? 0 : 1;
  },
};

function describe({ manifest, sha256 }: Bundle) {
  const { name, version, architecture, licence, metrics, training_data } = manifest;
  return { name, version, sha256, architecture, licence, metrics, training_data };
}

const line = ({ manifest, sha256 }: Bundle, defaultModel: string): string =>
  `${manifest.name}  ${manifest.version}  ${manifest.architecture}  ${manifest.licence}  ${sha256.slice(0, 12)}${manifest.name === defaultModel ? '  (default)' : ''}`;
