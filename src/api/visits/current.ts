/** Visits as they are now: a visit that lasts is that of its camera's state, after the last frame. */
import type { Visit } from '../../schemas/visit.js';
import { openVisits } from '../../visits/fold.js';
import type { ApiDependencies } from '../dependencies.js';

/** @returns in the order of the stored ones */
export async function currentVisits(
  stored: readonly Visit[],
  { cameras }: Pick<ApiDependencies, 'cameras'>,
): Promise<Visit[]> {
  const open = new Set(stored.filter(({ status }) => status === 'open').map(({ camera }) => camera));
  const states = await Promise.all([...open].map(async (id) => [id, (await cameras.state(id))?.visits] as const));
  const lasting = states.flatMap(([id, state]) => (state === undefined ? [] : openVisits(state, id)));
  return stored.map((visit) => lasting.find(({ id }) => id === visit.id) ?? visit);
}
