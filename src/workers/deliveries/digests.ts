/** Digests of the messages that the limits of endpoints held back: one message per endpoint and camera. */
import { newTraceId } from '../../base/ids.js';
import { digestMessage } from '../../endpoints/digest.js';
import type { EnqueueDelivery } from '../../jobs/enqueue-delivery.js';
import type { Logger } from '../../process/logger.js';
import type { CameraStore } from '../../stores/cameras/cameras.js';
import type { EndpointStore } from '../../stores/delivery/endpoints.js';

/** Instead of the id of an API key, because no request asked for it. */
const DIGEST = 'digest';

interface DigestDependencies {
  readonly endpoints: Pick<EndpointStore, 'get' | 'limits'>;
  readonly cameras: Pick<CameraStore, 'get'>;
  readonly enqueueDelivery: Pick<EnqueueDelivery, 'ofAlert'>;
  readonly logger: Logger;
}

/** @returns a function that sends the digests that are due, and returns their number */
export function createDigests({ endpoints, cameras, enqueueDelivery, logger }: DigestDependencies) {
  return async (): Promise<number> => {
    let sent = 0;
    for (const held of await endpoints.limits.due()) {
      const { endpoint, camera, messages } = held;
      const [receiver, stored] = await Promise.all([endpoints.get(endpoint), cameras.get(camera)]);
      if (receiver === undefined || stored === undefined || messages === 0) {
        await endpoints.limits.close(held, undefined);
        continue;
      }
      const message = digestMessage(held, stored.settings.schedule?.timezone ?? 'UTC');
      const digest = { message, endpoint, comparisonId: '', url: null, traceId: newTraceId(), apiKeyId: DIGEST };
      await endpoints.limits.close(held, digest);
      await enqueueDelivery.ofAlert(digest);
      logger.info({ endpoint_id: endpoint, camera_id: camera, messages }, 'digest of messages that were held back');
      sent += 1;
    }
    return sent;
  };
}
