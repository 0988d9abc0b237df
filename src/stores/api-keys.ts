/** API keys: only a SHA-256 of the secret is kept (128+ random bits need no slow hash). Redis (api-keys-redis.ts). */
export const SCOPES = ['compare', 'batch', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

export interface ApiKeyStore {
  /** @returns the key and, this once, its secret: 'sd_' + key id's random part + '_' + 32 random bytes base64url. */
  create(name: string, scopes: readonly Scope[]): Promise<{ key: ApiKey; secret: string }>;
  list(): Promise<ApiKey[]>;
  /** @returns whether it existed. */
  revoke(id: string): Promise<boolean>;
  /** @returns undefined where the secret is unknown; compares in constant time. */
  authenticate(secret: string): Promise<ApiKey | undefined>;
}
