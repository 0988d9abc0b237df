/**
 * Pictures that a command asks for: pulled beside the loop of the publisher, because a camera may take seconds, and
 * published by it.
 */
import { ok, type Service } from '../service.js';
import type { CameraView } from './camera-view.js';
import { type CameraViews, inLanguageOf } from './camera-views.js';
import type { Log } from './log.js';
import { snapshotMessage } from './messages.js';

/** Cameras whose picture is pulled at a time; further commands are answered by a refusal. */
const MOST_AT_ONCE = 16;

interface TakenSnapshot {
  readonly view: CameraView;
  /** the message with the result */
  readonly payload: string;
}

export type Snapshots = ReturnType<typeof createSnapshots>;

/**
 * @param deps.baseUrl of the console, without a trailing slash
 * @param deps.onTaken is called when one can be published
 */
export function createSnapshots(deps: {
  readonly api: Service['api'];
  readonly views: Pick<CameraViews, 'bySlug'>;
  readonly baseUrl: string;
  readonly log: Log;
  readonly onTaken: () => void;
}) {
  const pulled = new Set<string>();
  const taken: TakenSnapshot[] = [];

  const pull = async ({ camera }: CameraView): Promise<string> => {
    const params = { path: { id: camera.id } };
    try {
      const comparison = await ok(
        deps.api.POST('/v1/cameras/{id}/snapshot', { params, headers: inLanguageOf(camera) }),
      );
      return snapshotMessage(camera, { comparison, baseUrl: deps.baseUrl });
    } catch (error) {
      return snapshotMessage(camera, { error: (error as Error).message });
    }
  };

  /** A command while the picture of the camera is pulled asks for nothing more. */
  const press = (view: CameraView): void => {
    const { id } = view.camera;
    if (pulled.has(id)) return;
    const end = (payload: string) => {
      pulled.delete(id);
      taken.push({ view, payload });
      deps.onTaken();
    };
    if (pulled.size >= MOST_AT_ONCE) {
      end(snapshotMessage(view.camera, { error: `${MOST_AT_ONCE} other cameras are asked for a picture` }));
      return;
    }
    pulled.add(id);
    void pull(view).then(end);
  };

  return {
    /** slugs of the cameras whose picture is asked for */
    asked: new Set<string>(),
    /**
     * Begins to pull the pictures that are asked for, and publishes those that came.
     * @param publish throws if the broker does not confirm a message: it is published again
     */
    async carryOut(publish: (snapshot: TakenSnapshot) => Promise<void>): Promise<void> {
      for (const slug of [...this.asked]) {
        this.asked.delete(slug);
        const view = deps.views.bySlug(slug);
        if (view !== undefined) press(view);
        else deps.log('a command for a camera that does not exist was ignored', { camera: slug });
      }
      for (let [next] = taken; next !== undefined; [next] = taken) {
        await publish(next);
        taken.shift();
      }
    },
  };
}
