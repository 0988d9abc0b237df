/**
 * The job that describes one confirmed change: reads it with its frames, asks the describer, saves the description and
 * queues its deliveries. It is independent of BullMQ; queue-workers.ts adapts it.
 */
import type { BlobStore } from '../../blobs.js';
import type { Describer, Meter } from '../../describer/describe.js';
import { evidenceOfChange } from '../../describer/evidence.js';
import { ScenedeltaError } from '../../errors.js';
import type { DecodeLimits } from '../../frames/decode.js';
import { createFrameKeeper } from '../../frames/keep.js';
import { servedFrame } from '../../frames/served-frame.js';
import { SIDES, type Side } from '../../images.js';
import type { EnqueueDelivery } from '../../jobs/enqueue-delivery.js';
import { DescriptionJobSchema, parseJob } from '../../jobs/payloads.js';
import type { Logger } from '../../logger.js';
import type { Change } from '../../schemas/change.js';
import type { Description } from '../../schemas/description.js';
import type { CameraStore } from '../../stores/cameras.js';
import type { ChangeStore } from '../../stores/changes.js';
import type { DescriptionStore, UseLimit, UseLimits } from '../../stores/descriptions.js';
import type { ResultStore, StoredComparison } from '../../stores/results.js';

interface DescribeDependencies {
  readonly changes: Pick<ChangeStore, 'get'>;
  readonly results: Pick<ResultStore, 'get'>;
  readonly cameras: Pick<CameraStore, 'get' | 'maskOf'>;
  readonly blobs: BlobStore;
  readonly descriptions: Pick<DescriptionStore, 'save' | 'drop' | 'takeCall' | 'addTokens'>;
  readonly enqueueDelivery: Pick<EnqueueDelivery, 'ofAlert'>;
  readonly describer: Pick<Describer, 'describe'>;
  readonly decodeLimits: DecodeLimits;
  readonly limits: UseLimits;
  /** epoch ms */
  readonly clock: () => number;
  readonly logger: Logger;
}

export type DescriptionProcessor = ReturnType<typeof createDescriptionProcessor>;

const LIMIT_NAMES: Readonly<Record<UseLimit, string>> = {
  keyCalls: 'DESCRIBER_KEY_CALLS',
  keyTokens: 'DESCRIBER_KEY_TOKENS',
  cameraCalls: 'DESCRIBER_CAMERA_CALLS',
  cameraTokens: 'DESCRIBER_CAMERA_TOKENS',
};

export function createDescriptionProcessor(deps: DescribeDependencies) {
  const { descriptions, limits } = deps;
  const keeper = createFrameKeeper(deps.blobs, deps.decodeLimits);

  /** @returns the frames as they may be shown; null if they are no longer kept */
  const framesOf = async (stored: StoredComparison): Promise<Record<Side, Uint8Array> | null> => {
    const read = async (side: Side) => (await servedFrame(stored, side, deps, keeper))?.bytes();
    const [before, after] = await Promise.all(SIDES.map(read));
    return before === undefined || after === undefined ? null : { before, after };
  };

  /** Limits of use of the frame's API key and of the camera. */
  const meterOf = (apiKeyId: string, camera: string): Meter => ({
    async takeCall() {
      const limit = await descriptions.takeCall({ apiKeyId, camera }, limits);
      return limit && `${LIMIT_NAMES[limit]} (${limits[limit]} per hour) is reached`;
    },
    addTokens: (tokens) => descriptions.addTokens({ apiKeyId, camera }, tokens),
  });

  /** @returns undefined if there is nothing to describe */
  const describe = async (change: Change, stored: StoredComparison | undefined): Promise<Description | undefined> => {
    const settings = (await deps.cameras.get(change.camera))?.settings.describer ?? null;
    const evidence = evidenceOfChange(change, stored?.comparison);
    if (settings === null || evidence.length === 0) return undefined;
    const skipped = (detail: string): Description => ({
      ...{ status: 'skipped', sentence: null, changes: [], preset: settings.preset },
      reason: { code: 'frames-gone', detail },
      ...{ model: null, ms: 0, tokens: null, at: new Date(deps.clock()).toISOString() },
    });
    const frames = stored === undefined ? null : await framesOf(stored);
    if (stored === undefined || frames === null) return skipped('the frames of the change are no longer kept');
    const { preset, instructions, frames: fullFrames } = settings;
    const meter = meterOf(stored.request.apiKeyId, change.camera);
    try {
      return await deps.describer.describe({ preset, instructions, frames, evidence, fullFrames, meter });
    } catch (thrown) {
      // A frame that the pipeline could read, and that cannot be decoded any more.
      if (thrown instanceof ScenedeltaError && thrown.permanent) return skipped(thrown.message.slice(0, 300));
      throw thrown;
    }
  };

  return {
    /**
     * Once per change: a repeated job asks again only if no description was saved.
     * @returns the description that was saved; undefined if there is nothing to describe
     * @throws ScenedeltaError if the stores are unreachable, or the payload cannot be read
     */
    async process(payload: unknown): Promise<Description | undefined> {
      const { changeId, traceId } = parseJob(DescriptionJobSchema, payload);
      const change = await deps.changes.get(changeId);
      const stored = change && (await deps.results.get(change.comparisons.best));
      const isOpen = change !== undefined && change.description === null;
      const description = isOpen ? await describe(change, stored) : undefined;
      if (change === undefined || description === undefined) {
        await descriptions.drop(changeId);
        return undefined;
      }
      const { status, reason, ms, tokens } = description;
      const fields = { change_id: changeId, camera_id: change.camera, trace_id: traceId };
      deps.logger.info({ ...fields, status, reason: reason?.code, ms, tokens }, 'change described');
      const { traceparent, apiKeyId = '' } = stored?.request ?? {};
      const by = { traceId, apiKeyId, ...(traceparent === undefined ? {} : { traceparent }) };
      const message = await descriptions.save(change, description, by);
      // It is stored as undelivered, so if this fails, recovery queues it.
      if (message !== null) {
        await deps.enqueueDelivery
          .ofAlert(message)
          .catch((err) => deps.logger.error({ ...fields, err }, 'delivery not queued; recovery will queue it'));
      }
      return description;
    },
  };
}
