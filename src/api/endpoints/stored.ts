/** Stored endpoints, found and presented, and what their routes share. */
import type { Static } from 'typebox';
import { notFound } from '../../base/errors.js';
import { type EndpointSecrets, openSecrets, validSecrets } from '../../endpoints/secrets.js';
import { SIGNED_FORMATS } from '../../endpoints/settings.js';
import type { AllowList } from '../../outbound/address.js';
import type { EndpointRecord } from '../../stores/delivery/endpoints.js';
import type { ApiDependencies } from '../dependencies.js';
import { EndpointIdParams, type EndpointSchema } from '../schemas/endpoints.js';
import { ref } from '../schemas/shared.js';

export const tags = ['endpoints'];
export const config = { scope: 'admin' } as const;
export const params = EndpointIdParams;
/** @param schema name of a component */
export const body = (schema: string) => ({ content: { 'application/json': { schema: ref(schema) } } });

/** @throws ScenedeltaError 'not-found' */
export async function findEndpoint(
  { endpoints }: Pick<ApiDependencies, 'endpoints'>,
  id: string,
): Promise<EndpointRecord> {
  const found = await endpoints.get(id);
  if (found !== undefined) return found;
  throw notFound(`There is no endpoint ${id}: it never was or has been deleted`);
}

export interface EndpointResources extends Pick<ApiDependencies, 'endpoints' | 'loginKey' | 'clock'> {
  /** foreign addresses that may be requested */
  readonly allow: AllowList;
}

/** An endpoint whose secrets cannot be decrypted is shown without them, so that it can be deleted. */
export function presentStored({ loginKey, clock }: EndpointResources, record: EndpointRecord) {
  let secrets: EndpointSecrets | undefined;
  try {
    secrets = openSecrets(record.id, record.sealed, loginKey);
  } catch {
    secrets = undefined;
  }
  return presentEndpoint(record, secrets, clock());
}

type Endpoint = Static<typeof EndpointSchema>;

/** @param secrets undefined: they cannot be decrypted. @param now epoch ms */
function presentEndpoint(record: EndpointRecord, secrets: EndpointSecrets | undefined, now: number): Endpoint {
  const { stopped, failingSince, settings } = record;
  const isSigned = SIGNED_FORMATS.includes(settings.format);
  const valid = secrets === undefined || !isSigned ? 0 : validSecrets(secrets, now).length;
  const until = secrets?.signing[1]?.expiresAt ?? null;
  return {
    id: record.id,
    url: record.shownUrl,
    owner: record.subscriber?.owner ?? null,
    ...settings,
    has_authorization: secrets?.authorization != null,
    secrets: valid,
    previous_secret_until: valid < 2 || until === null ? null : new Date(until).toISOString(),
    state: stateOf(record),
    failing_since: failingSince,
    last_delivered_at: record.lastDeliveredAt,
    last_error: record.lastError,
    held_back: record.heldBack,
    stopped,
    created_at: record.created_at,
    updated_at: record.updated_at,
  };
}

function stateOf({ settings, stopped, failingSince }: EndpointRecord): Endpoint['state'] {
  if (!settings.enabled) return 'disabled';
  if (stopped !== null) return 'stopped';
  return failingSince === null ? 'active' : 'failing';
}
