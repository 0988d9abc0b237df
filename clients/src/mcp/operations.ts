/** The operations of the API, as openapi.yaml describes them, for tools that call them. */
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';

type Schema = { readonly [key: string]: unknown };
interface Argument {
  readonly in: 'path' | 'query' | 'body';
  readonly required: boolean;
  /** without references */
  readonly schema: Schema;
}
export interface Operation {
  readonly method: string;
  /** with its parameters in braces */
  readonly path: string;
  readonly arguments: Readonly<Record<string, Argument>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}
interface Body {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly allOf?: readonly Body[];
}
interface Described {
  readonly operationId?: string;
  readonly parameters?: readonly unknown[];
  readonly requestBody?: { readonly content: { readonly 'application/json'?: { readonly schema: unknown } } };
}
interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
}

const FILE = new URL('../../../openapi/openapi.yaml', import.meta.url);

/** @returns a function that finds an operation by its id; it throws if there is none */
export async function readOperations(): Promise<(id: string) => Operation> {
  const document = parse(await readFile(FILE, 'utf8')) as OpenApi;
  return (id) => {
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, described] of Object.entries(methods)) {
        if (described.operationId === id) return { method, path, arguments: argumentsOf(described, document) };
      }
    }
    throw new Error(`openapi.yaml has no operation ${id}`);
  };
}

function argumentsOf({ parameters = [], requestBody }: Described, document: OpenApi): Operation['arguments'] {
  const found: Record<string, Argument> = {};
  for (const given of resolved(parameters, document) as readonly Parameter[]) {
    const { name, in: place, required = false, description, schema } = given;
    if (place !== 'path' && place !== 'query') continue;
    found[name] = { in: place, required, schema: { ...schema, ...(description === undefined ? {} : { description }) } };
  }
  const body = resolved(requestBody?.content['application/json']?.schema ?? {}, document) as Body;
  for (const { properties = {} } of [body, ...(body.allOf ?? [])]) {
    for (const [name, schema] of Object.entries(properties)) {
      found[name] = { in: 'body', required: body.required?.includes(name) ?? false, schema };
    }
  }
  return found;
}

/** Replaces each reference by what it refers to, because the schema of a tool stands alone. */
function resolved(value: unknown, document: OpenApi): unknown {
  if (Array.isArray(value)) return value.map((one) => resolved(one, document));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, ...rest } = value as { readonly $ref?: unknown };
  const plain = Object.fromEntries(Object.entries(rest).map(([key, one]) => [key, resolved(one, document)]));
  if (typeof $ref !== 'string') return plain;
  const target = $ref
    .slice('#/'.length)
    .split('/')
    .reduce((at: unknown, key) => (at as Readonly<Record<string, unknown>>)[key], document);
  return { ...(resolved(target, document) as object), ...plain };
}
