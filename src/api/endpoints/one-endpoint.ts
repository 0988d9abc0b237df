/** One endpoint, as its routes find it, and what their schemas share. */
import { notFound } from '../../errors.js';
import type { EndpointRecord } from '../../stores/endpoints.js';
import type { ApiDependencies } from '../dependencies.js';
import { EndpointIdParams } from '../schemas/endpoints.js';
import { ref } from '../schemas/shared.js';

export const tags = ['endpoints'];
export const config = { scope: 'admin' } as const;
export const params = EndpointIdParams;
export const body = (schema: Parameters<typeof ref>[0]) => ({
  content: { 'application/json': { schema: ref(schema) } },
});

/** @returns a reader of one endpoint, which throws ScenedeltaError 'not-found' */
export const endpointOf =
  (endpoints: Pick<ApiDependencies['endpoints'], 'get'>) =>
  async (id: string): Promise<EndpointRecord> => {
    const found = await endpoints.get(id);
    if (found !== undefined) return found;
    throw notFound(`There is no endpoint ${id}: it never was or has been deleted`);
  };
