/** Scopes of API keys, and roles: the scopes of a key by what its holder does. docs/access.md lists the routes. */

export const SCOPES = ['read', 'judge', 'compare', 'batch', 'metrics', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** A key that judges or sends also reads, as far as its owner and its cameras let it see. */
const INCLUDED: Readonly<Partial<Record<string, readonly Scope[]>>> = {
  judge: ['read'],
  compare: ['read'],
  admin: SCOPES,
};

export const ROLES = {
  viewer: ['read'],
  guard: ['judge'],
  integrator: ['compare', 'batch'],
  admin: ['admin'],
} as const satisfies Readonly<Record<string, readonly Scope[]>>;
export type Role = keyof typeof ROLES;
export const ROLE_NAMES = Object.keys(ROLES) as readonly Role[];

/** @returns the scopes with those that they include, in the order of SCOPES; unknown ones are left out */
export const withIncluded = (scopes: readonly string[]): Scope[] =>
  SCOPES.filter((scope) => scopes.some((one) => one === scope || INCLUDED[one]?.includes(scope)));

/** @returns the role with exactly these scopes */
export const roleOf = (scopes: readonly string[]): Role | undefined =>
  ROLE_NAMES.find((role) => withIncluded(ROLES[role]).join() === withIncluded(scopes).join());
