import { readFile } from 'node:fs/promises';
import { parse, parseDocument, visit } from 'yaml';
import { REQUEST_EXAMPLES, RESPONSE_EXAMPLES } from '../../src/api/describe.js';
import { openApiYaml } from '../../src/api/openapi-yaml.js';
import { comparisonMessage } from '../../src/endpoints/comparison-message.js';
import { payloadOf } from '../../src/endpoints/payload.js';
import { ENDPOINT_EVENTS } from '../../src/schemas/message.js';
import { WEBHOOK_TYPES } from '../../src/schemas/webhook-payload.js';
import { acceptedComparison, finished } from '../helpers/comparisons.js';
import { contractOf, type OpenApi } from '../helpers/contract.js';

const folder = new URL('../../openapi/', import.meta.url);
const committed = await readFile(new URL('openapi.yaml', folder), 'utf8');
const document = parse(committed) as OpenApi;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
);

const shared = ($ref: string) =>
  document.components.responses[$ref.replace('#/components/responses/', '')] as { description?: string };

/** @returns the value with each reference replaced by what it names */
function expanded(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(expanded);
  if ('$ref' in value) {
    const [, ...keys] = String(value.$ref).split('/');
    return expanded(keys.reduce<unknown>((node, key) => (node as Record<string, unknown>)[key], document));
  }
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, expanded(inner)]));
}

describe('openapi/openapi.yaml', () => {
  it('has at most 290,000 bytes', () => {
    expect(Buffer.byteLength(committed)).toBeLessThanOrEqual(290_000);
  });

  it('has question marks in quotes alone, because PyYAML refuses them in plain texts of flow maps', () => {
    const plain: unknown[] = [];
    visit(parseDocument(committed), {
      Scalar: (_key, node) =>
        void (node.type === 'PLAIN' && String(node.value).includes('?') && plain.push(node.value)),
    });
    expect(plain).toEqual([]);
  });

  it('writes no problem three times', () => {
    const problems = operations.flatMap(([, { responses }]) =>
      Object.values(responses)
        .filter((response) => 'content' in response && 'application/problem+json' in (response.content ?? {}))
        .map((response) => JSON.stringify(response)),
    );
    expect(problems).not.toHaveLength(0);
    for (const problem of problems) expect(problems.filter((other) => other === problem).length).toBeLessThan(3);
  });

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
    for (const answer of Object.values(described.responses) as { description?: string; $ref?: string }[]) {
      const { description } = answer.$ref ? shared(answer.$ref) : answer;
      expect(description).toBeDefined();
      expect(description).not.toMatch(/^(Default Response)?$/);
    }
    if (name.includes('/v1')) {
      expect(Object.keys(described.responses)).toEqual(
        expect.arrayContaining(['400', '401', '403', '429', '500', '503']),
      );
    }
  });
});

it('each reference leads to a component', () => {
  const names = [...JSON.stringify(document).matchAll(/#\/components\/(\w+)\/([\w.-]+)/g)];
  expect(names.length).toBeGreaterThan(0);
  const missing = names.filter(([, section = '', name = '']) => {
    const parts = (document.components as unknown as Record<string, object>)[section] ?? {};
    return !(name in parts);
  });
  expect(missing.map(([reference]) => reference)).toEqual([]);
});

describe('webhooks', () => {
  it('are described for every type', () => {
    expect(Object.keys(document.webhooks)).toEqual([...WEBHOOK_TYPES, ...ENDPOINT_EVENTS, 'alerts.digest']);
  });

  it('have a schema that fits their payload, and no other payload', () => {
    const contract = contractOf(document);
    const comparison = finished(acceptedComparison().comparison);
    const links = {
      baseUrl: 'https://cameras.example',
      key: Buffer.alloc(32),
      framesMs: 1000,
      heatmapsMs: 1000,
      keptSince: 0,
    };
    const payload = JSON.parse(JSON.stringify(payloadOf(comparisonMessage(comparison), links)));
    contract.checkComponent('WebhookPayload', payload);
    expect(() => contract.checkComponent('AlertPayload', payload)).toThrow('must');
  });
});

describe('The examples of bodies', () => {
  const contract = contractOf(document);
  const examples = Object.entries({ ...REQUEST_EXAMPLES }).concat(Object.entries(RESPONSE_EXAMPLES));
  const cases = examples.flatMap(([component, named]) =>
    Object.entries(named).map(([name, { value }]) => [component, name, value] as const),
  );

  it.each(cases)('%s %s fits its component', (component, _name, value) => {
    contract.checkComponent(component, value);
  });

  it('do not fit another component', () => {
    const value = RESPONSE_EXAMPLES.ComparisonProblem?.[422]?.value;
    expect(() => contract.checkComponent('Comparison', value)).toThrow('must have required property');
  });

  it.each([
    ['POST /v1/comparisons', 'ComparisonRequest'],
    ['PUT /v1/cameras/{id}', 'CameraRequest'],
    ['POST /v1/cameras/{id}/frames', 'CameraFrameRequest'],
    ['POST /v1/changes/{id}/feedback', 'FeedbackRequest'],
  ])('%s shows those of %s', (name, component) => {
    const [, operation] = operations.find(([found]) => found === name) ?? [];
    const { requestBody } = operation as unknown as {
      requestBody: { content: { 'application/json': { examples: object } } };
    };
    expect(expanded(requestBody.content['application/json'].examples)).toEqual(REQUEST_EXAMPLES[component]);
  });
});

describe('Generators of clients', () => {
  it('find each shared part once', () => {
    const text = JSON.stringify(document);
    for (const [section, parts] of Object.entries(document.components ?? {}).filter(([name]) => name !== 'schemas')) {
      for (const name of Object.keys(parts).filter(() => section !== 'securitySchemes')) {
        expect(text.split(`"#/components/${section}/${name}"`).length).toBeGreaterThan(2);
      }
    }
  });

  const { schemas } = document.components as unknown as { schemas: Record<string, Record<string, never>> };

  it('find a name for every form of a frame', () => {
    const forms = (schemas.FrameInput as unknown as { anyOf: object[] }).anyOf;
    expect(forms).toEqual(
      ['FrameText', 'FrameBase64', 'FrameUrl', 'FrameS3'].map((name) => ({
        $ref: `#/components/schemas/${name}`,
      })),
    );
  });

  it('find that a severity rule of a request needs its severity only', () => {
    expect(JSON.stringify(expanded(schemas.CameraRequest))).toContain('"required":["severity"]');
  });
});
