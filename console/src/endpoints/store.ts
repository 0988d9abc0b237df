/** Endpoints and their deliveries, as the page shows them, and what a person does with them. */
import { signal } from '@preact/signals';
import { systemClock } from '../../../src/base/clock.js';
import { api, messageOf, ok } from '../api/client.js';
import { readPages } from '../api/pages.js';
import type { Delivery, Endpoint, EndpointPatch, EndpointRequest } from '../api/types.js';
import { t } from '../texts/texts.js';
import { toast } from '../ui/toasts.js';

export const endpoints = signal<readonly Endpoint[] | null>(null);
/** of the chosen endpoint; null: not read yet */
export const deliveries = signal<readonly Delivery[] | null>(null);
/** why the last step of the user failed */
export const fault = signal('');
/** a secret that was just made, shown until it is put away */
export const freshSecret = signal<{ readonly secret: string; readonly of: string } | null>(null);

/** Many receivers share one address, whose path is secret: without a name, the end of the id distinguishes them. */
export const nameOf = ({ description, url, id }: Endpoint): string => description ?? `${url} (…${id.slice(-4)})`;

/** Runs a step and shows why it failed. @returns undefined if it failed */
async function attempt<T>(step: () => Promise<T>): Promise<T | undefined> {
  try {
    const result = await step();
    fault.value = '';
    return result;
  } catch (error) {
    fault.value = messageOf(error);
    return undefined;
  }
}

/** @throws ApiError */
export async function readEndpoints(): Promise<void> {
  endpoints.value = (await readPages((query) => ok(api.GET('/v1/endpoints', { params: { query } })))).items;
}

/** @throws ApiError */
export async function readDeliveries(id: string): Promise<void> {
  const params = { path: { id }, query: { limit: 20 } };
  deliveries.value = (await ok(api.GET('/v1/endpoints/{id}/deliveries', { params }))).items;
}

/** @returns the id of the new endpoint */
export const createEndpoint = (body: EndpointRequest) =>
  attempt(async () => {
    const { id, secret } = await ok(api.POST('/v1/endpoints', { body }));
    freshSecret.value = secret === null ? null : { secret, of: id };
    await readEndpoints();
    return id;
  });

/** @returns whether it is saved */
export const changeEndpoint = (id: string, body: EndpointPatch) =>
  attempt(async () => {
    await ok(api.PATCH('/v1/endpoints/{id}', { params: { path: { id } }, body }));
    toast(t('Saved.'));
    await readEndpoints();
    return true;
  });

export const setEnabled = (id: string, enabled: boolean) =>
  attempt(async () => {
    await ok(api.PATCH('/v1/endpoints/{id}', { params: { path: { id } }, body: { enabled } }));
    toast(enabled ? t('Started.') : t('Disabled: nothing is sent.'));
    await readEndpoints();
  });

export const deleteEndpoint = (id: string) =>
  attempt(async () => {
    await ok(api.DELETE('/v1/endpoints/{id}', { params: { path: { id } } }));
    toast(t('Deleted.'));
    await readEndpoints();
  });

export const rotateSecret = (id: string) =>
  attempt(async () => {
    const { secret } = await ok(api.POST('/v1/endpoints/{id}/rotate', { params: { path: { id } }, body: {} }));
    freshSecret.value = { secret, of: id };
    await readEndpoints();
  });

export const sendTest = (id: string) =>
  attempt(async () => {
    await ok(api.POST('/v1/endpoints/{id}/test', { params: { path: { id } } }));
    toast(t('The test event is queued.'));
    await readDeliveries(id);
  });

export const resend = (delivery: string, id: string) =>
  attempt(async () => {
    await ok(api.POST('/v1/deliveries/{id}/resend', { params: { path: { id: delivery } } }));
    toast(t('Queued again.'));
    await readDeliveries(id);
  });

/** @param hours back from now */
export const recover = (id: string, hours: number) =>
  attempt(async () => {
    const since = new Date(systemClock() - hours * 3_600_000).toISOString();
    const { queued } = await ok(api.POST('/v1/endpoints/{id}/recover', { params: { path: { id } }, body: { since } }));
    toast(t('{n} alert is queued.|{n} alerts are queued.', { n: queued }));
    await readDeliveries(id);
  });
