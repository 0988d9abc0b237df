/** The views of all cameras: read from the stores, and kept current by events. */
import type { CameraState } from '../camera/fold/state.js';
import type { StoredCamera } from '../camera/settings/camera.js';
import { afterFrame, type CameraHealth } from '../camera/settings/health.js';
import type { Logger } from '../process/logger.js';
import type { Change } from '../schemas/change.js';
import type { StreamEvent } from '../schemas/stream-event.js';
import type { CameraStore } from '../stores/cameras/cameras.js';
import type { ChangeStore } from '../stores/changes/changes.js';
import type { ResultStore } from '../stores/comparisons/results.js';
import { type CameraView, noteChange } from './camera-view.js';
import { sentenceMessage } from './messages.js';
import { slugOf } from './topics.js';

/** Changes that are read per camera at its first sight: an older one that is still open is not seen. */
const MOST_CHANGES = 2_000;
const PAGE = 100;
/** After this time a view is read again, because changes are erased without an event. */
const RELOAD_MS = 3_600_000;

interface ViewDependencies {
  readonly cameras: Pick<CameraStore, 'all' | 'get' | 'state'>;
  readonly changes: Pick<ChangeStore, 'list'>;
  readonly results: Pick<ResultStore, 'get'>;
  /** of the console, without a trailing slash */
  readonly baseUrl: string;
  readonly clock: () => number;
  readonly logger: Logger;
}

export type CameraViews = ReturnType<typeof createCameraViews>;

export function createCameraViews(deps: ViewDependencies) {
  const { cameras, changes, baseUrl, clock } = deps;
  const views = new Map<string, CameraView & { readonly loadedAt: number }>();

  const load = async (camera: StoredCamera): Promise<CameraView> => {
    const health = healthOf(await cameras.state(camera.id));
    const view = { camera, health, changes: new Map(), sentence: null as string | null, loadedAt: clock() };
    let cursor: string | undefined;
    for (let read = 0; read < MOST_CHANGES; read += PAGE) {
      const page = await changes.list({ camera: camera.id, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
      const newest = read === 0 ? page.items[0] : undefined;
      if (newest !== undefined) view.sentence = sentenceMessage(openingOf(newest), contextOf(camera, newest, baseUrl));
      for (const change of page.items) noteChange(view, change.id, change, view.loadedAt);
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    const earlier = views.get(camera.id);
    // Events that came meanwhile are newer than the state that was read.
    if (earlier !== undefined) view.health = earlier.health;
    views.set(camera.id, view);
    return view;
  };

  const use = (camera: StoredCamera): Promise<CameraView> | CameraView => {
    const view = views.get(camera.id);
    if (view === undefined || clock() - view.loadedAt > RELOAD_MS) return load(camera);
    view.camera = camera;
    return view;
  };

  return {
    all: (): Iterable<CameraView> => views.values(),
    bySlug: (slug: string): CameraView | undefined =>
      [...views.values()].find(({ camera }) => slugOf(camera.id) === slug),
    /** Reads the settings of all cameras again. @throws ScenedeltaError 'queue-unavailable' */
    async refresh(): Promise<void> {
      const found = new Set<string>();
      for await (const camera of cameras.all()) {
        found.add(camera.id);
        await use(camera);
      }
      for (const id of views.keys()) if (!found.has(id)) views.delete(id);
    },
    /** @returns the view with its present settings; undefined if the camera is gone */
    async current(id: string): Promise<CameraView | undefined> {
      const camera = await cameras.get(id);
      return camera === undefined ? undefined : use(camera);
    },
    /** Notes the health that an event about a frame or a camera shows. */
    note(event: StreamEvent): void {
      const view = event.camera === null ? undefined : views.get(event.camera);
      if (view === undefined) return;
      if (event.subject.kind === 'camera') {
        const { frozen, lost } = view.health;
        const ofSignal = event.type === 'camera.signal_lost' || event.type === 'camera.signal_back';
        view.health = {
          ...view.health,
          frozen: ofSignal ? frozen : event.type === 'camera.frozen',
          lost: ofSignal ? event.type === 'camera.signal_lost' : lost,
        };
      } else if (event.type === 'comparison.finished') {
        const at = Date.parse(event.at);
        view.health = afterFrame(view.health, at, event.data.verdict === 'tamper' ? view.health.tamper : null);
        if (event.data.verdict === 'tamper') void noteTamper(view, event.subject.id, deps);
      }
    },
  };
}

/** The event does not name the kind of tampering, so the comparison is read. */
async function noteTamper(
  view: CameraView,
  comparisonId: string,
  { results, logger }: Pick<ViewDependencies, 'results' | 'logger'>,
): Promise<void> {
  try {
    const tamper = (await results.get(comparisonId))?.comparison.tamper?.[0]?.name ?? null;
    view.health = { ...view.health, tamper };
  } catch (err) {
    logger.debug({ err, comparison_id: comparisonId }, 'the kind of tampering is not known');
  }
}

function healthOf(state: CameraState | undefined): CameraHealth {
  return {
    lastFrameAt: state?.last?.at ?? null,
    intervalMs: state?.intervalMs ?? null,
    tamper: null,
    frozen: state?.still?.reported === true,
    lost: state?.signal?.reported === true,
  };
}

/** The event with which a change opened. */
const openingOf = ({ id, camera, zone, kind, severity, caption, confirmed_at }: Change): StreamEvent => ({
  type: 'change.opened',
  subject: { kind: 'change', id },
  data: {},
  camera,
  zone,
  kind,
  severity,
  caption,
  at: confirmed_at,
});

/** Context of the messages about a change. */
export const contextOf = ({ id, settings }: StoredCamera, change: Change | undefined, baseUrl: string) => ({
  camera: { id, ...settings },
  change,
  baseUrl,
});
