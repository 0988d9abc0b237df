/** Sends the picture of a change to the broker, which keeps it as long as the service keeps the frame. */
import { HOUR_MS } from '../base/clock.js';
import type { StoredCamera } from '../camera/settings/camera.js';
import type { PictureOf } from '../frames/change-picture.js';
import type { Logger } from '../process/logger.js';
import { type Change, shownFrame } from '../schemas/change.js';
import type { LinkSettings } from '../secrets/links.js';
import type { ResultStore } from '../stores/comparisons/results.js';
import { isUnavailable } from '../stores/redis/redis.js';
import type { Connection } from './broker.js';
import type { Retained } from './retained.js';

/** Topic, properties and header of the packet of a picture. */
const PACKET_SLACK = 1_024;

export interface PictureSenderDependencies {
  readonly retained: Pick<Retained, 'setPicture'>;
  readonly results: Pick<ResultStore, 'get'>;
  readonly pictureOf: PictureOf;
  /** most bytes of a picture; 0: none */
  readonly pictureLimit: number;
  readonly links: LinkSettings;
  readonly clock: () => number;
  readonly logger: Logger;
}

export function pictureSender(deps: PictureSenderDependencies) {
  /** Seconds until the frame of the picture is no longer kept, at least one. */
  const expiryOf = async ({ settings }: StoredCamera, change: Change): Promise<number> => {
    const finished = (await deps.results.get(change.comparisons.best))?.comparison.finished_at;
    const localMs = (settings.retention.frames_hours ?? Number.POSITIVE_INFINITY) * HOUR_MS;
    const end = (finished == null ? deps.clock() : Date.parse(finished)) + Math.min(deps.links.framesMs, localMs);
    return Math.max(1, Math.ceil((end - deps.clock()) / 1000));
  };

  /**
   * @returns whether the broker has the picture: not if pictures are off, or the frame is no longer kept
   * @throws Disconnected; ScenedeltaError if the stores cannot be reached
   */
  return async (camera: StoredCamera, change: Change, connection: Connection | undefined): Promise<boolean> => {
    if (deps.pictureLimit === 0) return false;
    const limit = Math.min(deps.pictureLimit, (connection?.packetLimit ?? Number.POSITIVE_INFINITY) - PACKET_SLACK);
    const jpeg = await deps.pictureOf(shownFrame(change), limit).catch((err) => {
      if (isUnavailable(err)) throw err;
      deps.logger.warn({ err, change: change.id }, 'the picture of a change cannot be made');
    });
    if (jpeg === undefined) return false;
    await deps.retained.setPicture(camera.id, jpeg, await expiryOf(camera, change));
    return true;
  };
}
