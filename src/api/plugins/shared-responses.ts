/** Answers that many operations of the OpenAPI document give alike, written once under components/responses. */

interface Response {
  readonly description?: string;
  readonly content?: Readonly<Record<string, { readonly schema?: { readonly $ref?: string } }>>;
}
type Responses = Record<string, Response | { $ref: string }>;
interface Document {
  components?: { responses?: Responses };
  paths?: Record<string, Record<string, { responses: Responses }>>;
}

/** Below this many uses, a reader finds an answer sooner in its operation than under components. */
const LEAST_USES = 3;
const CODES = /`([a-z-]+)`: /g;

/**
 * Replaces the problem answers that at least three operations share by references, in place.
 *
 * A component has the name of its schema and of its error codes, e.g. 'Problem.invalid-request.malformed-body', so that
 * a new route renames none. Of two answers with one name, which differ in their headers, the more frequent is shared.
 */
export function shareResponses<T extends object>(document: T): T {
  const described = document as Document;
  const lists = Object.values(described.paths ?? {})
    .flatMap((operations) => Object.values(operations))
    .map(({ responses }) => responses);
  const uses = new Map<string, number>();
  for (const response of lists.flatMap((responses) => Object.values(responses))) {
    const key = JSON.stringify(response);
    uses.set(key, (uses.get(key) ?? 0) + 1);
  }
  const shared: Responses = {};
  const names = new Map<string, string>();
  for (const [key, count] of [...uses].sort(([, a], [, b]) => b - a)) {
    const response = JSON.parse(key) as Response;
    const name = nameOf(response);
    if (count < LEAST_USES || name === undefined || name in shared) continue;
    shared[name] = response;
    names.set(key, name);
  }
  for (const responses of lists) {
    for (const [status, response] of Object.entries(responses)) {
      const name = names.get(JSON.stringify(response));
      if (name !== undefined) responses[status] = { $ref: `#/components/responses/${name}` };
    }
  }
  described.components = { ...described.components, responses: shared };
  return document;
}

/** @returns undefined of an answer that is no problem */
function nameOf({ description = '', content }: Response): string | undefined {
  const schema = content?.['application/problem+json']?.schema?.$ref?.split('/').at(-1);
  return schema && [schema, ...[...description.matchAll(CODES)].map(([, code]) => code)].join('.');
}
