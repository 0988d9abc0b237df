/** The picture of a change for the broker, which keeps it as long as the service keeps the frame. */
import { failureOf } from '../failure.js';
import { reasonOf, type Service } from '../service.js';
import type { Connection } from './broker.js';

/** Topic, properties and header of the packet of a picture. */
const PACKET_SLACK = 1_024;
/** The service takes no smaller limit. */
const LEAST_BYTES = 1_024;

export interface Picture {
  readonly jpeg: Buffer;
  /** seconds until the frame is no longer kept, at least one */
  readonly expiryS: number;
}

interface PictureDependencies {
  readonly service: Pick<Service, 'request'>;
  /** most bytes; 0: none */
  readonly pictureLimit: number;
  readonly clock: () => number;
}

/**
 * @returns undefined if pictures are off, the frame is no longer kept, or the broker takes none of its sizes
 * @throws Failure if the service does not answer
 */
export async function readPicture(
  { service, pictureLimit, clock }: PictureDependencies,
  change: string,
  connection: Connection | undefined,
): Promise<Picture | undefined> {
  const bytes = Math.min(pictureLimit, (connection?.packetLimit ?? Number.POSITIVE_INFINITY) - PACKET_SLACK);
  if (bytes < LEAST_BYTES) return undefined;
  const response = await service.request(`/v1/changes/${change}/picture?bytes=${bytes}`);
  if (response.status === 404 || response.status === 410) return undefined;
  if (!response.ok) throw failureOf(response.status, `${response.url}: ${await reasonOf(response)}`);
  const end = Date.parse(response.headers.get('expires') ?? '');
  const left = Number.isNaN(end) ? 1 : Math.ceil((end - clock()) / 1000);
  return { jpeg: Buffer.from(await response.arrayBuffer()), expiryS: Math.max(1, left) };
}
