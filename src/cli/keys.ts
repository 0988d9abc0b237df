/** `scenedelta keys`: creates, lists and revokes API keys on the machine itself; HTTP offers no way to do so. */
import { invalidRequest, notFound, ScenedeltaError } from '../base/errors.js';
import { loadConfig, redisUrlOf } from '../process/config.js';
import { createLogger } from '../process/logger.js';
import { type ApiKey, type ApiKeyStore, createApiKeyStore } from '../stores/redis/api-keys.js';
import { connectRedis } from '../stores/redis/redis.js';
import { ROLE_NAMES, ROLES, type Role, roleOf, SCOPES, type Scope } from '../stores/redis/scopes.js';
import { CAMERA_SCOPE_PATTERN } from '../stores/redis/visibility.js';
import { createCommand } from './command.js';
import { printLine } from './print.js';

export const command = createCommand('keys').description(
  'Creates, lists and revokes API keys. REDIS_URL or DATA_DIR say where the keys are kept, as for the service.',
);

command
  .command('create')
  .description('create a key and print its secret, this once: only a hash is kept')
  .requiredOption('--name <name>', 'name that the list of keys shows')
  .option(
    '--role <role>',
    `the scopes by what its holder does: ${ROLE_NAMES.map((role) => `${role} (${ROLES[role].join(', ')})`).join(', ')}`,
    (text) => parseRole(text),
  )
  .option(
    '--scopes <scopes>',
    `in place of a role, comma separated, of ${SCOPES.join(', ')}; default: compare`,
    (text) => parseScopes(text),
  )
  .option(
    '--owner <owner>',
    'keys of one owner see the comparisons of each other; default: the new key alone',
    (text) => parseOwner(text),
  )
  .option(
    '--cameras <ids>',
    "comma separated ids of the cameras whose frames and changes the key may use; 'gate-*' stands for all that begin " +
      "with gate-, '*' for all; default: all with --role, none with --scopes",
    (text) => parseCameras(text),
  )
  .option('--secret-only', 'print nothing but the secret')
  .action(create);

command
  .command('list')
  .description('list the keys, without secrets')
  .option('--json', 'print them as JSON')
  .action(list);

command
  .command('revoke')
  .description('revoke a key at once')
  .argument('<id>', 'id of the key, as the list shows it')
  .action(revoke);

interface CreateOptions {
  readonly name: string;
  readonly role?: Role;
  readonly scopes?: Scope[];
  readonly owner?: string;
  readonly cameras?: string[];
  readonly secretOnly?: true;
}

async function create({ name: given, secretOnly, role, owner, ...chosen }: CreateOptions): Promise<void> {
  const name = given.trim();
  if (name === '') throw invalidRequest('--name is empty; expected a name for the key');
  if (role !== undefined && chosen.scopes !== undefined) {
    throw invalidRequest('--role and --scopes are both given; expected one of them');
  }
  const scopes: readonly Scope[] = role === undefined ? (chosen.scopes ?? ['compare']) : ROLES[role];
  if (scopes.includes('admin') && chosen.cameras !== undefined) {
    throw invalidRequest(
      '--cameras is given for a key with the scope admin, which sees every camera; expected one or the other',
    );
  }
  const cameras = chosen.cameras ?? (role === undefined ? [] : ['*']);
  const settings = { name, scopes, cameras, ...(owner === undefined ? {} : { owner }) };
  const { key, secret } = await withStore((store) => store.create(settings));
  if (secretOnly) return printLine(secret);
  printLine(
    `id       ${key.id}\nname     ${key.name}\nowner    ${key.owner}\nrole     ${roleOf(key.scopes) ?? 'none'}`,
  );
  printLine(`scopes   ${key.scopes.join(', ')}\ncameras  ${camerasOf(key)}\nsecret   ${secret}`);
  printLine('\nThe secret is shown this once. Send it as "Authorization: Bearer SECRET".');
}

async function list({ json }: { json?: true }): Promise<void> {
  const keys = await withStore((store) => store.list());
  if (json) return printLine(JSON.stringify(keys, null, 2));
  if (keys.length === 0) printLine('No keys. Make one: scenedelta keys create --name NAME');
  for (const key of keys) {
    const { id, name, scopes, owner, createdAt, lastUsedAt } = key;
    const sees = `cameras: ${camerasOf(key)}${owner === id ? '' : `, owner: ${owner}`}`;
    printLine(`${id}  ${name}  [${scopes.join(', ')}]  ${sees}  made ${createdAt}, used ${lastUsedAt ?? 'never'}`);
  }
}

const camerasOf = ({ scopes, cameras }: ApiKey): string =>
  scopes.includes('admin') ? 'all' : cameras.join(', ') || 'none';

async function revoke(id: string): Promise<void> {
  if (await withStore((store) => store.revoke(id))) return printLine(`${id} is revoked.`);
  throw notFound(`No key ${JSON.stringify(id)}; "scenedelta keys list" shows the existing ones`);
}

function parseRole(text: string): Role {
  const role = ROLE_NAMES.find((one) => one === text);
  if (role !== undefined) return role;
  throw invalidRequest(`--role is ${JSON.stringify(text)}; expected ${ROLE_NAMES.join(', ')}`);
}

function parseScopes(text: string): Scope[] {
  const given = [...new Set(text.split(',').map((scope) => scope.trim()))];
  const unknown = given.find((scope) => !(SCOPES as readonly string[]).includes(scope));
  if (unknown === undefined) return given as Scope[];
  throw invalidRequest(`--scopes has ${JSON.stringify(unknown)}; expected some of ${SCOPES.join(', ')}`);
}

function parseOwner(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text)) return text;
  throw invalidRequest(
    `--owner is ${JSON.stringify(text)}; expected 1 to 64 letters, digits, dots, dashes or underscores`,
  );
}

function parseCameras(text: string): string[] {
  const given = [...new Set(text.split(',').map((camera) => camera.trim()))];
  const wrong = given.find((camera) => !CAMERA_SCOPE_PATTERN.test(camera));
  if (wrong === undefined) return given;
  throw invalidRequest(
    `--cameras has ${JSON.stringify(wrong)}; expected the id of a camera, possibly with a * at its end (gate-3, gate-*, *)`,
  );
}

/** A person is waiting, so an unreachable Redis is reported at once instead of being tried again without end. */
async function withStore<T>(use: (store: ApiKeyStore) => Promise<T>): Promise<T> {
  const config = loadConfig();
  const url = redisUrlOf(config);
  const redis = connectRedis(url, { role: 'producer', logger: createLogger({ level: 'silent', name: 'keys' }) });
  try {
    await new Promise<void>((resolve, reject) => {
      redis.once('ready', resolve);
      redis.once('error', reject);
    }).catch((cause: unknown) => {
      const embedded =
        config.redisUrl === null ? ' (is "npm run up" running on DATA_DIR, or is REDIS_URL to be set?)' : '';
      throw new ScenedeltaError('queue-unavailable', `Redis does not answer at ${withoutPassword(url)}${embedded}`, {
        cause,
      });
    });
    return await use(createApiKeyStore(redis));
  } finally {
    redis.disconnect();
  }
}

const withoutPassword = (url: string): string => url.replace(/\/\/[^/@]*@/, '//');
