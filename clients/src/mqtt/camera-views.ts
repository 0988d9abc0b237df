/** The views of all cameras: read from the service, and kept current by events. */
import { Failure } from '../failure.js';
import { ok, type Service } from '../service.js';
import { type Camera, type CameraView, type Change, noteChange } from './camera-view.js';
import { openingOf, sentenceMessage } from './messages.js';
import { slugOf } from './topics.js';

/** Changes that are read per camera at its first sight: an older one that is still open is not seen. */
const MOST_CHANGES = 2_000;
const PAGE = 100;
/** After this time a view is read again, because changes are erased without an event. */
const RELOAD_MS = 3_600_000;

interface ViewDependencies {
  readonly api: Service['api'];
  /** of the console, without a trailing slash */
  readonly baseUrl: string;
  readonly clock: () => number;
}

export type CameraViews = ReturnType<typeof createCameraViews>;

/** @returns undefined if the service does not have it */
export const orMissing = <T>(answer: Promise<T>): Promise<T | undefined> =>
  answer.catch((error) => {
    if (error instanceof Failure && error.kind === 'refused') return undefined;
    throw error;
  });

/** Headers that ask for sentences in the language of the camera. */
export const inLanguageOf = ({ locale }: Pick<Camera, 'locale'>) => ({ 'accept-language': locale ?? 'en' });

export function createCameraViews({ api, baseUrl, clock }: ViewDependencies) {
  const views = new Map<string, CameraView & { readonly loadedAt: number }>();

  const latest = async (camera: Camera, most: number): Promise<Change[]> => {
    const items: Change[] = [];
    for (let cursor: string | null | undefined; items.length < most && cursor !== null; ) {
      const query = { camera: camera.id, limit: Math.min(PAGE, most), ...(cursor && { cursor }) };
      const page = await ok(api.GET('/v1/changes', { params: { query }, headers: inLanguageOf(camera) }));
      items.push(...page.items);
      cursor = page.next_cursor;
    }
    return items;
  };

  const load = async (camera: Camera): Promise<CameraView> => {
    const changes = await latest(camera, MOST_CHANGES);
    const [newest] = changes;
    const sentence = newest === undefined ? null : sentenceMessage(openingOf(newest), camera, newest, baseUrl);
    const view = { camera, changes: new Map(), sentence, loadedAt: clock() };
    for (const change of changes) noteChange(view, change.id, change, view.loadedAt);
    views.set(camera.id, view);
    return view;
  };

  const use = (camera: Camera): Promise<CameraView> | CameraView => {
    const view = views.get(camera.id);
    if (view === undefined || clock() - view.loadedAt > RELOAD_MS) return load(camera);
    view.camera = camera;
    return view;
  };

  return {
    all: (): Iterable<CameraView> => views.values(),
    bySlug: (slug: string): CameraView | undefined =>
      [...views.values()].find(({ camera }) => slugOf(camera.id) === slug),
    /** @returns the latest change of a camera */
    latestChange: async ({ camera }: CameraView): Promise<Change | undefined> => (await latest(camera, 1))[0],
    /** Reads the settings and the states of all cameras again. @throws Failure */
    async refresh(): Promise<void> {
      const found = new Set<string>();
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const query = { overview: 'true' as const, limit: PAGE, ...(cursor && { cursor }) };
        const page = await ok(api.GET('/v1/cameras', { params: { query } }));
        for (const camera of page.items) {
          found.add(camera.id);
          await use(camera);
        }
        cursor = page.next_cursor;
      }
      for (const id of views.keys()) if (!found.has(id)) views.delete(id);
    },
    /** @returns the view with its present settings; undefined if the camera is gone */
    async current(id: string): Promise<CameraView | undefined> {
      const camera = await orMissing(ok(api.GET('/v1/cameras/{id}', { params: { path: { id } } })));
      return camera && use(camera);
    },
  };
}
