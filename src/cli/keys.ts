/** `scenedelta keys`: API keys are made and revoked here, on the machine, never over HTTP. */
import { parseArgs } from 'node:util';
import { loadConfig, redisUrlOf } from '../config.js';
import { ScenedeltaError } from '../errors.js';
import { createLogger } from '../logger.js';
import { type ApiKeyStore, createApiKeyStore, SCOPES, type Scope } from '../stores/api-keys.js';
import { connectRedis } from '../stores/redis.js';
import type { Command } from './command.js';

const USAGE = `keys create --name NAME [--scopes compare,batch,admin] [--secret-only]
       scenedelta keys list [--json]
       scenedelta keys revoke ID

create   makes a key and prints its secret, this once: only a hash is kept
         --name         whose key it is
         --scopes       comma separated, of ${SCOPES.join(', ')}; default: compare
         --secret-only  print nothing but the secret
list     shows the keys there are, without secrets
revoke   ends a key at once

REDIS_URL or DATA_DIR say where the keys are kept, as for the service.`;

export const command: Command = {
  usage: USAGE,
  run([action, ...args]) {
    switch (action) {
      case 'create':
        return create(args);
      case 'list':
        return list(args);
      case 'revoke':
        return revoke(args);
      default:
        throw new ScenedeltaError(
          'invalid-request',
          `keys ${action ?? '(nothing)'}: expected create, list or revoke`,
        );
    }
  },
};

async function create(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      name: { type: 'string' },
      scopes: { type: 'string', default: 'compare' },
      'secret-only': { type: 'boolean', default: false },
    },
  });
  const name = values.name?.trim();
  if (!name) throw new ScenedeltaError('invalid-request', '--name is missing; expected whose key it is');
  const scopes = parseScopes(values.scopes);
  const { key, secret } = await withStore((store) => store.create(name, scopes));
  if (values['secret-only']) console.log(secret);
  else {
    console.log(
      `id      ${key.id}\nname    ${key.name}\nscopes  ${key.scopes.join(', ')}\nsecret  ${secret}`,
    );
    console.log('\nThe secret is shown this once. Send it as "Authorization: Bearer SECRET".');
  }
  return 0;
}

async function list(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { json: { type: 'boolean', default: false } } });
  const keys = await withStore((store) => store.list());
  if (values.json) console.log(JSON.stringify(keys, null, 2));
  else if (keys.length === 0) console.log('No keys. Make one: scenedelta keys create --name NAME');
  for (const key of values.json ? [] : keys) {
    console.log(
      `${key.id}  ${key.name}  [${key.scopes.join(', ')}]  made ${key.createdAt}, used ${key.lastUsedAt ?? 'never'}`,
    );
  }
  return 0;
}

async function revoke(args: string[]): Promise<number> {
  const { positionals } = parseArgs({ args, allowPositionals: true });
  const [id, ...more] = positionals;
  if (id === undefined || more.length > 0) {
    throw new ScenedeltaError('invalid-request', `keys revoke takes one id, got ${positionals.length}`);
  }
  if (await withStore((store) => store.revoke(id))) {
    console.log(`${id} is revoked.`);
    return 0;
  }
  throw new ScenedeltaError(
    'not-found',
    `No key ${JSON.stringify(id)}; "scenedelta keys list" shows those there are`,
  );
}

function parseScopes(text: string): Scope[] {
  const given = [...new Set(text.split(',').map((scope) => scope.trim()))];
  const unknown = given.find((scope) => !(SCOPES as readonly string[]).includes(scope));
  if (unknown === undefined) return given as Scope[];
  throw new ScenedeltaError(
    'invalid-request',
    `--scopes has ${JSON.stringify(unknown)}; expected some of ${SCOPES.join(', ')}`,
  );
}

/** A person is waiting: a Redis that is away is said at once instead of tried again for ever. */
async function withStore<T>(use: (store: ApiKeyStore) => Promise<T>): Promise<T> {
  const config = loadConfig();
  const url = redisUrlOf(config);
  const redis = connectRedis(url, {
    role: 'producer',
    logger: createLogger({ level: 'silent', name: 'keys' }),
  });
  try {
    await new Promise<void>((resolve, reject) => {
      redis.once('ready', resolve);
      redis.once('error', reject);
    }).catch((cause: unknown) => {
      const embedded = config.redisUrl === null ? ' (is "npm run up" running on this DATA_DIR?)' : '';
      throw new ScenedeltaError(
        'queue-unavailable',
        `Redis does not answer at ${withoutPassword(url)}${embedded}`,
        { cause },
      );
    });
    return await use(createApiKeyStore(redis));
  } finally {
    redis.disconnect();
  }
}

const withoutPassword = (url: string): string => url.replace(/\/\/[^/@]*@/, '//');
