/** The production app with the built console, on a port and on in-memory stores, for tests in a browser. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ApiDependencies, ApiOptions } from '../../src/api/dependencies.js';
import { frameKey, heatmapKey } from '../../src/base/blobs.js';
import type { Heatmap } from '../../src/base/images.js';
import { initialCameraState } from '../../src/camera/state/state.js';
import { encodeHeatmapData } from '../../src/heatmaps/data.js';
import type { Change } from '../../src/schemas/change.js';
import type { Comparison } from '../../src/schemas/comparison.js';
import type { StoredFrameRef } from '../../src/schemas/frame-ref.js';
import type { ChangeQuery } from '../../src/stores/changes/changes.js';
import { seesCamera } from '../../src/stores/redis/visibility.js';
import { useBrowser } from './browser.js';
import { acceptedComparison, finished } from './comparisons.js';
import { fakeApp } from './fake-app.js';
import { fakeSearch } from './fake-search.js';
import { FakeCameras, FakeChanges } from './fake-stores.js';
import type { Parts } from './partial.js';

const CONSOLE = resolve('dist/console');
const EXAMPLES = { before: readFileSync('examples/before.jpg'), after: readFileSync('examples/after.jpg') };
const GRID = { width: 24, height: 18 };

/** Lists pages by time, as the store on Redis does. */
class PagedChanges extends FakeChanges {
  override async list({ camera, since, until, visibility = 'everything', cursor = '0', limit }: ChangeQuery) {
    const from = Number(cursor.split('.')[0]);
    const found = this.kept.filter((change) => {
      const at = Date.parse(change.confirmed_at);
      return (
        seesCamera(visibility, change.camera) &&
        (camera === undefined || change.camera === camera) &&
        (since === undefined || at >= since) &&
        (until === undefined || at < until)
      );
    });
    const items = found.slice(from, from + limit);
    const next = from + items.length;
    return { items, nextCursor: next < found.length ? `${next}.${items.at(-1)?.id}` : null };
  }
}

export type ConsoleService = Awaited<ReturnType<typeof startConsole>>;

/** @param replaced stores of a test. @throws Error if the console has not been built */
export async function startConsole(options: Partial<ApiOptions> = {}, replaced: Parts<ApiDependencies> = {}) {
  if (!existsSync(CONSOLE)) throw new Error(`${CONSOLE} is missing: run npm run build`);
  const changes = new PagedChanges();
  const cameras = new FakeCameras();
  const search = fakeSearch(changes, cameras);
  const fake = await fakeApp(options, { consoleFolder: CONSOLE, cameras, changes, search, ...replaced });
  const url = await fake.app.listen({ host: '127.0.0.1', port: 0 });
  let running = fake.app;
  return {
    ...fake,
    cameras,
    changes,
    url,
    /** Closes the API, as if its process had ended; its data stays. */
    goAway: async () => {
      running.server.closeAllConnections();
      await running.close();
    },
    comeBack: async () => {
      const { reset: _reset, inject: _inject, queuedRequest: _queued, app: _app, ...stores } = fake;
      const again = await fakeApp(options, { ...stores, consoleFolder: CONSOLE, cameras, changes, search });
      running = again.app;
      await running.listen({ host: '127.0.0.1', port: Number(new URL(url).port) });
    },
    reset: () => {
      fake.reset();
      changes.kept.length = 0;
      cameras.kept.clear();
      cameras.states.clear();
    },
    stop: () => running.close(),
    /** Saves a finished comparison of the example pair, with heatmaps. @returns its id */
    async addComparison(given: Partial<Comparison> = {}, camera: string | null = null): Promise<string> {
      const refs = { before: await this.addFrame(EXAMPLES.before), after: await this.addFrame(EXAMPLES.after) };
      const stored = acceptedComparison({ ...refs, camera });
      const { id } = stored.comparison;
      await fake.results.create(stored);
      await fake.results.update(id, { comparison: finished(stored.comparison, given) });
      const words = Array.from({ length: given.words?.length ?? 3 }, (_, i) => blob(4 + 4 * i, 8));
      const maps = { before: blob(8, 9, 0), after: blob(21, 10), words: { before: words, after: words } };
      await fake.blobs.put(heatmapKey(id), encodeHeatmapData(maps));
      if (camera !== null) {
        const last = { at: Date.now(), sha256: refs.after.sha256, comparison: id };
        cameras.states.set(camera, { ...(cameras.states.get(camera) ?? initialCameraState()), last });
      }
      return id;
    },
    async addFrame(bytes: Buffer): Promise<StoredFrameRef> {
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      await fake.blobs.put(frameKey(sha256), bytes);
      return { from: 'stored', sha256, bytes: bytes.length, contentType: 'image/jpeg' };
    },
    addChange(change: Change): void {
      changes.kept.push(change);
    },
  };
}

/**
 * The console and a browser for all tests of a file. The stores are empty before each test.
 * @param replaced as startConsole. @returns how to open a tab, and the service
 */
export async function useConsole(...given: Parameters<typeof startConsole>) {
  const open = useBrowser();
  const service = await startConsole(...given);
  beforeEach(() => service.reset());
  afterAll(() => service.stop());
  return { open, service };
}

/** A map with one round thing. */
function blob(column: number, row: number, value = 1): Heatmap {
  const at = (i: number) => Math.hypot((i % GRID.width) - column, Math.floor(i / GRID.width) - row);
  const data = Float32Array.from({ length: GRID.width * GRID.height }, (_, i) => value * Math.max(0, 1 - at(i) / 4));
  return { ...GRID, data };
}
