/** Puts an evidence package into the bucket of an endpoint, as a delivery that is seen and retried like any other. */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { Mutex } from 'async-mutex';
import { invalidValue } from '../../base/errors.js';
import { endpointDeliveryIdOf, newId, newTraceId } from '../../base/ids.js';
import { objectUrl } from '../../endpoints/formats/bucket.js';
import { packageMessage } from '../../endpoints/package-message.js';
import type { EnqueueDelivery } from '../../jobs/enqueue-delivery.js';
import type { EvidencePackage } from '../../schemas/evidence.js';
import { cameraSubject, type Subject } from '../../schemas/message.js';
import type { EndpointRecord } from '../../stores/delivery/endpoints.js';
import type { ApiDependencies } from '../dependencies.js';
import { secretsOf } from '../endpoints/build.js';
import type { Evidence } from './collect.js';

/** A package is held in memory until it is stored, one at a time. */
const MOST_BYTES = 64 * 1024 * 1024;

interface UploadDependencies extends Pick<ApiDependencies, 'blobs' | 'changes' | 'deliveries' | 'loginKey' | 'clock'> {
  readonly enqueueDelivery: Pick<EnqueueDelivery, 'ofAlert'>;
}

export function createUploads(deps: UploadDependencies) {
  const oneAtATime = new Mutex();
  /**
   * @param zip makes the package
   * @param apiKeyId of the request
   * @throws ScenedeltaError 'invalid-value' for an endpoint of another format, and for a package that is too large
   */
  return async (
    endpoint: EndpointRecord,
    evidence: Evidence,
    { zip, apiKeyId }: { readonly zip: () => Promise<Readable>; readonly apiKeyId: string },
  ) => {
    const { id, settings } = endpoint;
    if (settings.format !== 'bucket') {
      throw invalidValue(
        `endpoint ${id} has the format ${settings.format}, expected one of the format bucket`,
        'endpoint',
      );
    }
    const { url } = secretsOf(endpoint, deps.loginKey);
    const at = deps.clock();
    const messageId = newId('alr', at);
    const blob = `evidence/${messageId}.zip`;
    const { change, visit } = evidence.subject;
    const camera = evidence.camera.id;
    const stored = await oneAtATime.runExclusive(async (): Promise<EvidencePackage> => {
      const bytes = await wholeOf(await zip());
      await deps.blobs.put(blob, bytes);
      const time = new Date(at).toISOString().replace(/[:-]|\.\d{3}/g, '');
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      return { name: `evidence-${change ?? visit ?? camera}-${time}.zip`, blob, bytes: bytes.length, sha256 };
    });
    const subject: Subject =
      change !== undefined
        ? { kind: 'change', id: change }
        : visit !== undefined
          ? { kind: 'visit', id: visit }
          : cameraSubject(camera);
    const message = packageMessage({ id: messageId, at, camera, subject, stored });
    const traceId = newTraceId();
    const alert = { message, endpoint: id, comparisonId: '', url: null, traceId, apiKeyId };
    await deps.changes.saveMessage(alert);
    await deps.enqueueDelivery.ofAlert(alert);
    const delivery = await deps.deliveries.get(endpointDeliveryIdOf(message, id));
    return { url: objectUrl(url, stored.name), bytes: stored.bytes, sha256: stored.sha256, delivery };
  };
}

/** @throws ScenedeltaError 'invalid-value' for more than MOST_BYTES */
async function wholeOf(zip: Readable): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of zip as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MOST_BYTES) {
      throw invalidValue(`the package has more than ${MOST_BYTES / 2 ** 20} MiB, expected a shorter time`, 'until');
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}
