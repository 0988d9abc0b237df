/** The search of the API over changes in memory: the production index, filled for each search. */
import type { LiveSearch } from '../../src/api/search/live-index.js';
import type { StoredCamera } from '../../src/camera/settings/camera.js';
import type { Change } from '../../src/schemas/change.js';
import type { SearchVector } from '../../src/schemas/search-vector.js';
import { SearchIndex } from '../../src/search/search-index.js';

export function fakeSearch(
  changes: { readonly kept: readonly Change[]; readonly keptVectors: ReadonlyMap<string, SearchVector> },
  cameras: { readonly kept: ReadonlyMap<string, StoredCamera> },
): Pick<LiveSearch, 'search' | 'drop'> {
  return {
    async search(text, filter, vectorOf) {
      const index = new SearchIndex();
      for (const change of changes.kept) index.put(change, changes.keptVectors.get(change.id));
      index.setNames((camera, zone) => {
        const settings = cameras.kept.get(camera)?.settings;
        const names = [settings?.name, settings?.zones.find(({ id }) => id === zone)?.name];
        return [camera, zone, ...names].filter((name) => name != null);
      });
      return { ...index.search(text, filter, await vectorOf?.(index)), complete: true };
    },
    drop: () => {},
  };
}
