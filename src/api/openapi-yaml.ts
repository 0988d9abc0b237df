/** Generator of openapi/openapi.yaml from the routes. */
import { Document, isCollection, isPair, stringify, visit } from 'yaml';
import { loadConfig } from '../process/config.js';
import { createLogger } from '../process/logger.js';
import { buildApp } from './app.js';
import type { ApiDependencies } from './dependencies.js';
import { describeRoutes } from './describe.js';

/** Stands for every dependency: describing the routes calls none of them. */
const unconnected: object = new Proxy(() => {}, {
  get: (_target, name) => (name === 'consoleFolder' ? null : unconnected),
  apply: () => {
    throw new Error('a dependency was called while the API was only being described');
  },
});

export async function openApiYaml(): Promise<string> {
  const app = await buildApp(
    unconnected as ApiDependencies,
    loadConfig({}),
    createLogger({ level: 'silent', name: 'openapi' }),
    { describe: describeRoutes },
  );
  try {
    await app.ready();
    return asYaml(app.swagger());
  } finally {
    await app.close();
  }
}

const LINE_WIDTH = 120;
const STYLE = { flowCollectionPadding: false, indentSeq: false } as const;

/** @returns YAML in which lists and maps that fit a line take one */
function asYaml(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    // PyYAML, which generators of clients use, ends a plain text of a flow map at a question mark.
    Scalar: (_key, node) => {
      if (typeof node.value === 'string' && node.value.includes('?')) node.type = 'QUOTE_DOUBLE';
    },
  });
  visit(document, {
    Collection: (_key, node, path) => {
      const parent = path.at(-1);
      const key = isPair(parent) ? String(parent.key).length + 2 : 2;
      const indent = 2 * path.filter(isCollection).length;
      const line = stringify(node.toJS(document), { ...STYLE, collectionStyle: 'flow', lineWidth: 0 });
      node.flow = indent + key + line.length <= LINE_WIDTH;
      return node.flow ? visit.SKIP : undefined;
    },
  });
  return document.toString({ ...STYLE, lineWidth: LINE_WIDTH });
}
