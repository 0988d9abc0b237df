/** API keys in memory, by the rules of the store on Redis. */
import type { ApiKey, ApiKeyStore, NewKey } from '../../src/stores/redis/api-keys.js';

export class FakeApiKeys implements ApiKeyStore {
  readonly keys = new Map<string, ApiKey>();
  #made = 0;
  async create({ name, scopes, owner, cameras = [] }: NewKey) {
    const id = `key_${String(this.#made++).padStart(26, '0')}`;
    const secret = `sd_${id.slice(4)}_${'x'.repeat(43)}`;
    const key = {
      id,
      name,
      scopes,
      owner: owner ?? id,
      cameras,
      createdAt: new Date().toISOString(),
      lastUsedAt: null,
    };
    this.keys.set(secret, key);
    return { key, secret };
  }
  async list() {
    return [...this.keys.values()];
  }
  async isEmpty() {
    return this.keys.size === 0;
  }
  async revoke(id: string) {
    return [...this.keys].some(([secret, key]) => key.id === id && this.keys.delete(secret));
  }
  async get(id: string) {
    return [...this.keys.values()].find((key) => key.id === id);
  }
  async authenticate(secret: string) {
    return this.keys.get(secret);
  }
  readonly #spent = new Set<string>();
  async spend(token: string) {
    return !this.#spent.has(token) && this.#spent.add(token).has(token);
  }
  async isSpent(token: string) {
    return this.#spent.has(token);
  }
}
