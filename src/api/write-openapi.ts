/** `npm run openapi` writes openapi/openapi.yaml; `npm run openapi:check` fails if the file is not up to date. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { openApiYaml } from './openapi-yaml.js';

const file = new URL('../../openapi/openapi.yaml', import.meta.url);
const generated = await openApiYaml();

if (parseArgs({ options: { check: { type: 'boolean' } } }).values.check) {
  const committed = await readFile(file, 'utf8').catch(() => '');
  if (committed !== generated) {
    process.stderr.write(
      'openapi/openapi.yaml is not what the routes describe; run this to fix: npm run build && npm run openapi\n',
    );
    process.exitCode = 1;
  }
} else {
  await mkdir(new URL('.', file), { recursive: true });
  await writeFile(file, generated);
}
