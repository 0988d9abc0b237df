/**
 * Parts that several places of the OpenAPI document have alike, written once under components. The routes state each
 * answer and parameter in full; readers and generators of clients get one name for each.
 */

type Json = null | boolean | number | string | readonly Json[] | Node;
interface Node {
  [key: string]: Json;
}
type Section = 'schemas' | 'parameters' | 'responses' | 'headers' | 'examples';
/** A place in the document: the keys that lead to it. */
type Path = readonly string[];
interface Part {
  readonly section: Section;
  readonly name: string;
}

/** Below this size a reader finds a schema sooner where it is used, characters of JSON. */
const LEAST_SCHEMA = 100;
/** Members from which on an object is written as another one and the rest. */
const LEAST_EXTENDED = 8;
const MOST_CODES = 3;
const CODES = /`([a-z-]+)`: /g;
/** Keys of a path that are no part of a name. */
const WITHOUT_MEANING = /^(?:properties|anyOf|content|schema|responses|\d+|application\/json)$/;

/**
 * Replaces equal parts by references, in place. A part has a name of its meaning: the error codes of a problem,
 * 'CameraRequest.alerts' of a nested schema, 'comparisons.id' of a parameter. Of two parts with one name the first is
 * shared; so a name never changes with the number of its uses.
 */
export function shareParts<T extends object>(document: T): T {
  const root = document as unknown as Node;
  const uses = new Map<string, number>();
  visit(root, [], (node, path) => {
    if (sectionOf(node, path) === undefined) return true;
    const key = JSON.stringify(node);
    uses.set(key, (uses.get(key) ?? 0) + 1);
    // A part inside a repeated one is written once with it.
    return uses.get(key) === 1;
  });

  const components = root.components as Record<string, Node>;
  const names = new Map<string, Part>();
  const refer = (node: Node, path: Path): Node | undefined => {
    const section = sectionOf(node, path);
    const key = JSON.stringify(node);
    if (section === undefined || (uses.get(key) ?? 0) < 2) return undefined;
    const shared = names.get(key) ?? { section, name: nameOf(section, node, path) };
    if (!names.has(key)) {
      const target = components[section] ?? {};
      components[section] = target;
      if (shared.name in target) return undefined;
      names.set(key, shared);
      target[shared.name] = node;
      replaceInside(node, path, refer);
    }
    return { $ref: `#/components/${section}/${shared.name}` };
  };
  replaceInside(root, [], refer);
  extendSchemas(components.schemas as Record<string, Node>);
  return document;
}

/**
 * Writes an object that has all members of another component, and more members or more required ones, as that component
 * and the rest. An object that forbids further members can have no more than the other. In place.
 */
function extendSchemas(schemas: Record<string, Node>): void {
  const membersOf = (schema: Node) => Object.entries((schema.properties ?? {}) as Node);
  const requiredOf = (schema: Node) => (schema.required ?? []) as string[];
  for (const schema of Object.values(schemas)) {
    const members = new Map(membersOf(schema).map(([key, value]) => [key, JSON.stringify(value)]));
    const [name, base] =
      Object.entries(schemas).find(([, one]) => {
        const some = membersOf(one);
        if (some.length < LEAST_EXTENDED || one.additionalProperties !== schema.additionalProperties) return false;
        const more = members.size - some.length + requiredOf(schema).length - requiredOf(one).length;
        if (more <= 0 || (schema.additionalProperties === false && members.size > some.length)) return false;
        if (!requiredOf(one).every((key) => requiredOf(schema).includes(key))) return false;
        return some.every(([key, value]) => members.get(key) === JSON.stringify(value));
      }) ?? [];
    if (base === undefined) continue;
    const inherited = new Set(membersOf(base).map(([key]) => key));
    const required = requiredOf(schema).filter((key) => !requiredOf(base).includes(key));
    const rest = membersOf(schema).filter(([key]) => !inherited.has(key));
    delete schema.additionalProperties;
    Object.assign(schema, { allOf: [{ $ref: `#/components/schemas/${name}` }], required });
    schema.properties = Object.fromEntries(rest);
    if (rest.length === 0) delete schema.properties;
    if (required.length === 0) delete schema.required;
  }
}

/** Calls `enter` for each object; it returns whether to visit what is inside. */
function visit(node: Json, path: Path, enter: (node: Node, path: Path) => boolean): void {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node) && !enter(node as Node, path)) return;
  for (const [key, value] of Object.entries(node)) visit(value, [...path, key], enter);
}

function replaceInside(node: Node, path: Path, refer: (node: Node, path: Path) => Node | undefined): void {
  for (const [key, value] of Object.entries(node)) {
    if (typeof value !== 'object' || value === null) continue;
    const place = [...path, key];
    const reference = Array.isArray(value) ? undefined : refer(value as Node, place);
    if (reference === undefined) replaceInside(value as Node, place, refer);
    else node[key] = reference;
  }
}

/** @returns where an object of this place can be shared; undefined if it cannot, or is short */
function sectionOf(node: Node, path: Path): Section | undefined {
  if ('$ref' in node || path.length < 4) return undefined;
  const parent = path.at(-2);
  if (path[0] !== 'components') {
    if (parent === 'responses' || parent === 'headers' || parent === 'parameters') return parent;
    if (parent === 'examples') return 'examples';
  }
  // Values, which may look like schemas.
  if (path.includes('example') || path.includes('examples') || path.includes('default')) return undefined;
  const isSchema = typeof node.type === 'string' || Array.isArray(node.type) || Array.isArray(node.anyOf);
  return isSchema && JSON.stringify(node).length >= LEAST_SCHEMA ? 'schemas' : undefined;
}

function nameOf(section: Section, node: Node, path: Path): string {
  if (section === 'headers') return path.at(-1) as string;
  const route = path[0] === 'webhooks' ? 'webhooks' : (path[1] ?? '').replace(/^\/(?:v1\/)?/, '');
  const resource = route.split('/')[0] ?? '';
  if (section === 'parameters') return `${resource}.${node.name}`;
  if (section === 'responses')
    return problemOf(node) ?? `${route.replaceAll(/[{}]/g, '').replaceAll('/', '.')}.${path.at(-1)}`;
  const place = path[0] === 'components' ? path.slice(2) : [resource, ...path.slice(3)];
  const words = place.filter((key) => !WITHOUT_MEANING.test(key)).map((key) => key.replace(/[^\w.-]/g, ''));
  return words.map((word) => (word === 'items' ? 'item' : word)).join('.');
}

/** @returns 'invalid-request.malformed-body' of a problem; undefined of another answer */
function problemOf(response: Node): string | undefined {
  const content = response.content as Record<string, { schema?: { $ref?: string } }> | undefined;
  const schema = content?.['application/problem+json']?.schema?.$ref?.split('/').at(-1);
  if (schema === undefined) return undefined;
  const codes = [...String(response.description).matchAll(CODES)].map(([, code]) => code).slice(0, MOST_CODES);
  return [...(schema === 'Problem' ? [] : [schema]), ...codes].join('.');
}
