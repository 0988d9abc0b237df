/** Generator of openapi/openapi.yaml from the routes. */
import { stringify } from 'yaml';
import { loadConfig } from '../config.js';
import { createLogger } from '../logger.js';
import { buildApp } from './app.js';
import type { ApiDependencies } from './dependencies.js';

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
  );
  try {
    await app.ready();
    return stringify(app.swagger(), { lineWidth: 120, aliasDuplicateObjects: false });
  } finally {
    await app.close();
  }
}
