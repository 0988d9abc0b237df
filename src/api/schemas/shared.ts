/** Shared parts of routes: common parameters, problem responses, headers, and references to named components. */
import { type TSchema, Type } from 'typebox';
import { type ErrorCode, errorEntry } from '../../base/errors.js';
import { SIDES } from '../../base/images.js';
import { literals, text } from '../../schemas/constructors.js';

/**
 * A reference to a component of the description (components.ts) by its name: the service checks and describes no
 * answer, so a running API loads no schema of one.
 */
export const ref = (component: string) => Type.Unsafe<unknown>({ $ref: `${component}#` });

export const ComparisonIdParams = Type.Object({
  id: Type.String({
    pattern: '^cmp_[0-9a-z]{26}$',
    description: 'Id of the comparison.',
    examples: ['cmp_01k9x3v5s8q2m7c4w6n1b0t9hz'],
  }),
});
export const SideParams = Type.Object({
  ...ComparisonIdParams.properties,
  side: literals(SIDES, 'Which of the two frames.'),
});
/** Query of frames and heatmaps; a signed link (links.ts) has both parameters. */
export const FrameQuery = Type.Object({
  exp: Type.Optional(Type.String({ pattern: '^[0-9]{1,12}$', description: 'Expiry of a signed link, epoch seconds.' })),
  sig: Type.Optional(
    Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', description: 'Signature of a signed link: no API key is needed.' }),
  ),
});

export const IDEMPOTENCY_HEADER = {
  'Idempotency-Key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'A unique key for this request, chosen by the caller and kept for 24 hours.',
    }),
  ),
};

export const PICTURE_CACHE = 'private, max-age=3600';
export const RESPONSE_HEADERS = {
  retryAfter: { 'Retry-After': Type.Integer({ description: 'Seconds after which to try again.' }) },
  location: { Location: text('Path of the comparison.') },
  preference: { 'Preference-Applied': text('The part of `Prefer` that was applied.') },
  replayed: { 'Idempotent-Replayed': text('true if the Idempotency-Key was used with this request before.') },
  etag: { ETag: text('For If-None-Match.'), 'Cache-Control': text('How long it may be cached.') },
  allow: { Allow: text('The methods that the resource takes.') },
  link: { Link: text('rel="next": the next page, if there is one.') },
} as const;

export const binary = Type.Unsafe<Buffer>({ type: 'string', format: 'binary' });

/** One response: its description, its body by content type, its headers. */
export const media = (description: string, types: Readonly<Record<string, TSchema>>, headers: object = {}) => ({
  description,
  content: Object.fromEntries(Object.entries(types).map(([type, schema]) => [type, { schema }])),
  ...(Object.keys(headers).length > 0 ? { headers } : {}),
});

export const json = (description: string, schema: TSchema, headers: object = {}) =>
  media(description, { 'application/json': schema }, headers);

export const BODY_PROBLEMS = ['malformed-body', 'payload-too-large', 'unsupported-media-type'] as const;
export const PICTURE_PROBLEMS = ['image-unreadable', 'image-too-large', 'image-too-small'] as const;
const ALWAYS: readonly ErrorCode[] = [
  'invalid-request',
  'unauthorized',
  'forbidden',
  'too-many-requests',
  'internal',
  'queue-unavailable',
  'closing',
];

/**
 * Problem responses by status, for the `response` of a route.
 * @param codes problems beside the ones of every request
 * @param options.schema name of the component that describes them
 */
export function problems(codes: readonly ErrorCode[] = [], options: { always?: boolean; schema?: string } = {}) {
  const all = new Set([...(options.always === false ? [] : ALWAYS), ...codes]);
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of all) {
    const { status } = errorEntry(code);
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, found]) => [
      status,
      media(
        found.map((code) => `\`${code}\`: ${errorEntry(code).title}.`).join(' '),
        { 'application/problem+json': ref(options.schema ?? 'Problem') },
        status === 429 || status === 503 || status === 409 ? RESPONSE_HEADERS.retryAfter : {},
      ),
    ]),
  );
}
