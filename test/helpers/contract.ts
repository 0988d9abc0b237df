/**
 * Checker of answers against the OpenAPI description: status, content type, common headers, and the schema of the
 * body.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

interface Media {
  readonly schema: object;
}
interface Response {
  readonly content?: Readonly<Record<string, Media>>;
}
interface Operation {
  readonly responses: Readonly<Record<string, Response | { readonly $ref: string }>>;
}
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, object>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>;
    readonly responses: Readonly<Record<string, Response>>;
  };
}
interface Answered {
  readonly method: string;
  readonly url: string;
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

export interface Contract {
  /** @throws Error naming the request and the deviation */
  check(answer: Answered): void;
  /** @throws Error if `value` does not fit the schema `component` */
  checkComponent(component: string, value: unknown): void;
}

const SHARED = '#/components/responses/';

/** @returns the answer that an operation describes, and the JSON pointer to it, percent-encoded */
function resolved(document: OpenApi, response: Response | { readonly $ref: string }, pointer: string) {
  if (!('$ref' in response)) return { response, pointer };
  return {
    response: document.components.responses[response.$ref.slice(SHARED.length)] as Response,
    pointer: response.$ref.slice(1),
  };
}

export function contractOf(document: OpenApi): Contract {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addFormat('binary', true);
  ajv.addSchema(document, 'openapi');
  const compiled = new Map<string, ValidateFunction>();
  const validate = (pointer: string, value: unknown, what: string) => {
    const check = compiled.get(pointer) ?? ajv.compile({ $ref: `openapi#${pointer}` });
    compiled.set(pointer, check);
    if (!check(value)) throw new Error(`${what}: ${ajv.errorsText(check.errors)} in ${JSON.stringify(value)}`);
  };
  const pointerPart = (key: string) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));
  const parameters = (path: string) => path.split('{').length;
  // A path without parameters goes before one that would match it with some.
  const patterns = Object.keys(document.paths)
    .sort((a, b) => parameters(a) - parameters(b))
    .map((path) => ({ path, pattern: new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`) }));

  return {
    check({ method, url, statusCode, headers, body }) {
      const what = `${method} ${url} -> ${statusCode}`;
      const path = patterns.find(({ pattern }) => pattern.test(url.split('?')[0] as string))?.path;
      const verb = method.toLowerCase();
      const operation = path === undefined ? undefined : document.paths[path]?.[verb];
      // Undescribed paths have general answers only.
      if (path === undefined || operation === undefined) {
        if (statusCode !== 404 && statusCode !== 405) throw new Error(`${what}: not described`);
        return validate('/components/schemas/Problem', JSON.parse(body), what);
      }
      if (typeof headers['trace-id'] !== 'string') throw new Error(`${what}: no Trace-Id`);
      const listed = operation.responses[statusCode];
      if (listed === undefined) throw new Error(`${what}: the status is not described`);
      const { response: described, pointer } = resolved(
        document,
        listed,
        `/paths/${pointerPart(path)}/${verb}/responses/${statusCode}`,
      );
      if (described.content === undefined) {
        if (body !== '') throw new Error(`${what}: a body where none is described`);
        return;
      }
      const type = String(headers['content-type']).split(';')[0] as string;
      if (!(type in described.content)) throw new Error(`${what}: ${type} is not described`);
      if (!/[/+]json$/.test(type)) return;
      validate(`${pointer}/content/${pointerPart(type)}/schema`, JSON.parse(body), what);
    },
    checkComponent: (component, value) => validate(`/components/schemas/${component}`, value, `${component}`),
  };
}
