/**
 * Attributes of the elements of a vector set, and filter expressions over them:
 * https://redis.io/docs/latest/develop/data-types/vector-sets/filtered-search.
 */

export interface ElementFilter {
  /** ids of the only cameras whose changes are wanted; undefined: all */
  readonly cameras?: readonly string[] | undefined;
  readonly zone?: string | undefined;
  /** confirmation, epoch ms, inclusive */
  readonly since?: number | undefined;
  /** exclusive */
  readonly until?: number | undefined;
}

/** Longer lists of cameras are checked after the search instead. */
const MOST_CAMERAS = 50;

/**
 * Ids as base64url, in attributes and expressions alike: Redis has no rule for quotation marks and backslashes in an
 * expression, and this alphabet has neither.
 */
const token = (id: string): string => Buffer.from(id, 'utf8').toString('base64url');

/** @returns JSON for VADD ... SETATTR. @param of.confirmed epoch ms */
export const elementAttributes = (of: { camera: string; zone: string | null; confirmed: number }): string =>
  JSON.stringify({
    camera: token(of.camera),
    ...(of.zone === null ? {} : { zone: token(of.zone) }),
    at: of.confirmed,
  });

/** @returns the expression for VSIM ... FILTER, as far as the engine should filter; undefined: not at all */
export function filterExpression({ cameras, zone, since, until }: ElementFilter): string | undefined {
  const conditions = [
    ...(cameras === undefined || cameras.length > MOST_CAMERAS
      ? []
      : [`.camera in [${cameras.map((id) => `"${token(id)}"`).join(',')}]`]),
    ...(zone === undefined ? [] : [`.zone == "${token(zone)}"`]),
    ...(since === undefined ? [] : [`.at >= ${wholeMs(since)}`]),
    ...(until === undefined ? [] : [`.at < ${wholeMs(until)}`]),
  ];
  return conditions.length === 0 ? undefined : conditions.join(' and ');
}

/** Expressions have no negative numbers. Confirmations are whole milliseconds. */
const wholeMs = (ms: number): string => String(Math.max(0, Math.ceil(ms)));
