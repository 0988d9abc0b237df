/** Recall of the vector sets of Redis: the candidates of a search beside the exact nearest changes. */
import { ms, percentile } from './report.mjs';
import { dist } from './service.mjs';

const { VectorList } = await dist('search/vector-list.js');
const { createVectorSets } = await dist('stores/vector-sets.js');
const { filterExpression } = await dist('stores/vector-filter.js');

/** As a search asks for. */
const CANDIDATES = 1_000;
const QUERIES = 20;
const DEPTHS = [10, 100];

/**
 * @param {{ change: object, vector: object }[]} all changes of the set
 * @param {() => object} madeVector vector of a query
 * @returns {Promise<string[][]>} rows of a report, without a filter and with that of one camera
 */
export async function figuresOfRecall(redis, all, madeVector) {
  const sets = createVectorSets(redis);
  const places = new Map();
  const list = new VectorList();
  for (const { change, vector } of all) {
    const { id, camera } = change;
    const place = places.get(camera) ?? { camera };
    places.set(camera, place);
    list.put({ id, group: { place } }, vector);
  }
  const [camera] = places.keys();
  const rows = [];
  for (const cameras of [undefined, [camera]]) {
    const filter = cameras === undefined ? {} : { camera: (id) => id === camera };
    const scope = {
      places: new Set(cameras === undefined ? places.values() : [places.get(camera)]),
      changes: all.length,
    };
    const shares = DEPTHS.map(() => 0);
    const took = [];
    for (let i = 0; i < QUERIES; i++) {
      const vector = { ...madeVector(), least: -1 };
      const most = Math.max(...DEPTHS);
      const { near } = await list.nearest({ vector, given: [], filter, scope, entry: () => undefined, most });
      const start = performance.now();
      const found = await sets.similar(vector, { count: CANDIDATES, filter: filterExpression({ cameras }) });
      took.push(performance.now() - start);
      const ids = new Set(found.map(({ id }) => id));
      for (const [k, depth] of DEPTHS.entries()) {
        const hit = near.slice(0, depth).filter(({ entry }) => ids.has(entry.id)).length;
        shares[k] += hit / Math.min(depth, near.length) / QUERIES;
      }
    }
    const where = cameras === undefined ? 'all cameras' : 'one camera of 100';
    const percent = shares.map((share) => (100 * share).toFixed(1)).join(' / ');
    rows.push([`recall of the nearest ${DEPTHS.join(' / ')}, ${where}`, `${percent} %`]);
    rows.push([
      `time of the set, ${where}: p50 / p95`,
      `${[0.5, 0.95].map((one) => ms(percentile(took, one))).join(' / ')} ms`,
    ]);
  }
  return rows;
}
