import { readdir, readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { openApiYaml } from '../../src/api/openapi-yaml.js';
import { ALERT_TYPES } from '../../src/schemas/change.js';
import { buildWebhookPayload, WEBHOOK_TYPES } from '../../src/schemas/webhook-payload.js';
import { acceptedComparison, finished } from '../helpers/comparisons.js';
import { contractOf, type OpenApi } from '../helpers/contract.js';

const folder = new URL('../../openapi/', import.meta.url);
const committed = await readFile(new URL('openapi.yaml', folder), 'utf8');
const document = parse(committed) as OpenApi;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(
    ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const,
  ),
);

describe('openapi/openapi.yaml', () => {
  it('equals the description by the routes (to fix: npm run build && npm run openapi)', async () => {
    expect(await openApiYaml()).toBe(committed);
  });

  it.each(operations)('%s has a summary, a tag, an id and described answers', (name, operation) => {
    const described = operation as typeof operation & {
      summary?: string;
      tags?: string[];
      operationId?: string;
    };
    expect(described).toMatchObject({
      summary: expect.any(String),
      tags: [expect.any(String)],
      operationId: expect.any(String),
    });
    for (const answer of Object.values(described.responses) as { description?: string }[]) {
      expect(answer.description).not.toMatch(/^(Default Response)?$/);
    }
    if (name.includes('/v1')) {
      expect(Object.keys(described.responses)).toEqual(
        expect.arrayContaining(['400', '401', '403', '429', '500', '503']),
      );
    }
  });
});

describe('webhooks', () => {
  it('are described for every type', () => {
    expect(Object.keys(document.webhooks)).toEqual([...WEBHOOK_TYPES, ...ALERT_TYPES]);
  });

  it('have a schema that fits their payload, and no other payload', () => {
    const contract = contractOf(document);
    const comparison = finished(acceptedComparison().comparison);
    const links = {
      baseUrl: 'https://cameras.example',
      key: Buffer.alloc(32),
      framesMs: 1000,
      heatmapsMs: 1000,
    };
    const payload = JSON.parse(JSON.stringify(buildWebhookPayload(comparison, links)));
    contract.checkComponent('WebhookPayload', payload);
    expect(() => contract.checkComponent('AlertPayload', payload)).toThrow('must');
  });
});

describe('openapi/examples', () => {
  it('fit the component that their file name starts with', async () => {
    const contract = contractOf(document);
    const files = await readdir(new URL('examples/', folder));
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) {
      const example = JSON.parse(await readFile(new URL(`examples/${file}`, folder), 'utf8'));
      contract.checkComponent(file.split('.')[0] as string, example);
    }
  });

  it('do not fit another component', async () => {
    const problem = JSON.parse(
      await readFile(new URL('examples/Problem.unknown-model.json', folder), 'utf8'),
    );
    expect(() => contractOf(document).checkComponent('Comparison', problem)).toThrow(
      'must have required property',
    );
  });
});
