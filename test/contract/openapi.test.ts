import { readFile } from 'node:fs/promises';
import { openApiYaml } from '../../src/api/openapi-yaml.js';

describe('openapi/openapi.yaml', () => {
  it('is what the routes describe (npm run build && npm run openapi)', async () => {
    const committed = await readFile(new URL('../../openapi/openapi.yaml', import.meta.url), 'utf8');
    expect(await openApiYaml()).toBe(committed);
  });
});
