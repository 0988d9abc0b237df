/** Actions behind the routes of endpoints: create and change one, and replace its secret. */
import { invalidValue } from '../../base/errors.js';
import { newId } from '../../base/ids.js';
import { rotated, sealSecrets, shownUrl } from '../../endpoints/secrets.js';
import { type EndpointPatch, SIGNED_FORMATS, settingsWith } from '../../endpoints/settings.js';
import type { StoredEndpoint } from '../../stores/delivery/endpoints.js';
import { assertAuthorization, assertEvents, assertReceiver, assertTemplate, newSecret, secretsOf } from './build.js';
import { type EndpointResources, findEndpoint, presentStored } from './stored.js';

/**
 * @param subscriber absent: an administrator makes it
 * @throws ScenedeltaError 'url-refused', 'invalid-value'
 */
export async function createEndpoint(
  resources: EndpointResources,
  given: EndpointPatch & { readonly url: string },
  subscriber?: StoredEndpoint['subscriber'],
) {
  const { endpoints, clock, loginKey, allow } = resources;
  const settings = settingsWith(given);
  const receiver = { url: given.url, authorization: given.authorization ?? null };
  assertReceiver(receiver, settings, allow);
  assertEvents(settings);
  assertTemplate(settings);
  const now = clock();
  const id = newId('end', now);
  const at = new Date(now).toISOString();
  const secret = newSecret();
  const signing = [{ secret, expiresAt: null }];
  const sealed = sealSecrets(id, { ...receiver, signing }, loginKey);
  const shown = shownUrl(given.url);
  const stored = { id, settings, shownUrl: shown, sealed, created_at: at, updated_at: at };
  await endpoints.create({ ...stored, ...(subscriber && { subscriber }) });
  const isSigned = SIGNED_FORMATS.includes(settings.format);
  return { ...presentStored(resources, await findEndpoint(resources, id)), secret: isSigned ? secret : null };
}

/** @throws ScenedeltaError 'not-found', 'url-refused', 'invalid-value' */
export async function changeEndpoint(resources: EndpointResources, id: string, given: EndpointPatch) {
  const { endpoints, clock, loginKey, allow } = resources;
  const record = await findEndpoint(resources, id);
  const settings = settingsWith(given, record.settings);
  assertEvents(settings);
  assertTemplate(settings);
  const isNewAddress = given.url !== undefined || settings.format !== record.settings.format;
  let shown = record.shownUrl;
  let sealed: string | undefined;
  if (isNewAddress || given.authorization !== undefined || given.certificate !== undefined) {
    const secrets = secretsOf(record, loginKey);
    const { url = secrets.url, authorization = secrets.authorization } = given;
    assertReceiver({ url, authorization }, settings, allow);
    assertAuthorization(given, secrets);
    sealed = sealSecrets(record.id, { ...secrets, url, authorization }, loginKey);
    shown = shownUrl(url);
  }
  const updated_at = new Date(clock()).toISOString();
  const { subscriber } = record;
  const changed = { id: record.id, settings, shownUrl: shown, created_at: record.created_at, updated_at };
  const again = isNewAddress || given.enabled === true;
  await endpoints.update(
    { ...changed, ...(subscriber && { subscriber }) },
    { ...(sealed === undefined ? {} : { sealed }), again },
  );
  return presentStored(resources, await findEndpoint(resources, id));
}

/** @throws ScenedeltaError 'not-found'; 'invalid-value' for a format whose requests are not signed */
export async function rotateSecret(resources: EndpointResources, id: string, previousValidMs: number) {
  const { endpoints, clock, loginKey } = resources;
  const record = await findEndpoint(resources, id);
  if (!SIGNED_FORMATS.includes(record.settings.format)) {
    throw invalidValue(
      `the format of the endpoint is ${record.settings.format}, which is not signed: expected ${SIGNED_FORMATS.join(', ')}`,
    );
  }
  const secret = newSecret();
  const next = rotated(secretsOf(record, loginKey), { secret, previousValidMs, now: clock() });
  await endpoints.saveSecrets(record.id, sealSecrets(record.id, next, loginKey));
  const until = next.signing[1]?.expiresAt;
  return { secret, previous_secret_until: until == null ? null : new Date(until).toISOString() };
}
