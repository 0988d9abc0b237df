/** Puts an evidence package into the bucket of an endpoint, as a delivery that is seen and retried like any other. */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { Mutex } from 'async-mutex';
import { invalidValue, ScenedeltaError } from '../../base/errors.js';
import { endpointDeliveryIdOf, newId, newTraceId } from '../../base/ids.js';
import { isoTime } from '../../base/wall-clock.js';
import { objectUrl } from '../../endpoints/formats/bucket.js';
import type { EnqueueDelivery } from '../../jobs/enqueue-delivery.js';
import type { EvidencePackage } from '../../schemas/evidence.js';
import { cameraSubject, type Message, type Subject } from '../../schemas/message.js';
import type { EndpointRecord } from '../../stores/delivery/endpoints.js';
import type { ApiDependencies } from '../dependencies.js';
import { secretsOf } from '../endpoints/build.js';
import type { Evidence } from './collect.js';

/** A package is held in memory until it is stored, one at a time. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Uploads that wait for their turn; each has read nothing yet. */
export const MOST_WAITING = 8;

interface UploadDependencies extends Pick<ApiDependencies, 'blobs' | 'changes' | 'deliveries' | 'loginKey' | 'clock'> {
  readonly enqueueDelivery: Pick<EnqueueDelivery, 'ofAlert'>;
}

export function createUploads(deps: UploadDependencies) {
  const oneAtATime = new Mutex();
  let open = 0;
  /**
   * @param of.collect reads what is packed, and `zip` packs it
   * @param of.apiKeyId of the request
   * @throws ScenedeltaError 'invalid-value' for an endpoint of another format, and for a package that is too large;
   *   'overloaded' if too many wait
   */
  return async (
    endpoint: EndpointRecord,
    of: {
      readonly collect: () => Promise<Evidence>;
      readonly zip: (evidence: Evidence) => Promise<Readable>;
      readonly apiKeyId: string;
    },
  ) => {
    const { id, settings } = endpoint;
    if (settings.format !== 'bucket') {
      throw invalidValue(
        `endpoint ${id} has the format ${settings.format}, expected one of the format bucket`,
        'endpoint',
      );
    }
    if (open > MOST_WAITING) {
      throw new ScenedeltaError('overloaded', `${MOST_WAITING} packages wait for their upload, expected fewer`);
    }
    const { url } = secretsOf(endpoint, deps.loginKey);
    const at = deps.clock();
    const messageId = newId('alr', at);
    const blob = `evidence/${messageId}.zip`;
    const store = async () => {
      const evidence = await of.collect();
      const bytes = await wholeOf(await of.zip(evidence));
      await deps.blobs.put(blob, bytes);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      return { evidence, size: bytes.length, sha256 };
    };
    open += 1;
    const { evidence, size, sha256 } = await oneAtATime.runExclusive(store).finally(() => (open -= 1));
    const { change, visit } = evidence.subject;
    const camera = evidence.camera.id;
    const time = new Date(at).toISOString().replace(/[:-]|\.\d{3}/g, '');
    const name = `evidence-${change ?? visit ?? camera}-${time}.zip`;
    const stored: EvidencePackage = { name, blob, bytes: size, sha256 };
    const subject: Subject =
      change !== undefined
        ? { kind: 'change', id: change }
        : visit !== undefined
          ? { kind: 'visit', id: visit }
          : cameraSubject(camera);
    const message: Message = {
      id: messageId,
      type: 'evidence.package',
      camera,
      at,
      subject,
      kind: 'evidence',
      severity: 'info',
      since: isoTime(at),
      caption: name,
      zone: null,
      picture: null,
      path: '/review',
      data: { package: stored },
    };
    const traceId = newTraceId();
    const alert = { message, endpoint: id, comparisonId: '', url: null, traceId, apiKeyId: of.apiKeyId };
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
