/** Reader of a request whose whole body is an image, as cameras and `curl --data-binary` send it. */
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { ScenedeltaError } from '../../base/errors.js';
import type { IncomingBytes } from '../../frames/keep.js';
import { frameTooLarge, readFrameFile } from './frame-input.js';

/** Name of the frame in errors, as in a form. */
const FIELD = 'frame';

/** Types of a body that may be an image; its bytes decide. Clients without a type say octet-stream. */
export const IMAGE_BODY = /^(?:image\/|(?:application|binary)\/octet-stream\b)/i;

/** Only on routes with FastifyContextConfig.imageBody; other routes have refused the type before. */
export const isImageBody = ({ headers }: FastifyRequest): boolean => IMAGE_BODY.test(headers['content-type'] ?? '');

/** @throws ScenedeltaError payload-too-large, image-unreadable, malformed-body */
export async function readImageBody(
  { raw, headers }: FastifyRequest,
  { frameLimit, bodyLimit }: { readonly frameLimit: number; readonly bodyLimit: number },
): Promise<IncomingBytes> {
  try {
    if (Number(headers['content-length'] ?? 0) > frameLimit) throw frameTooLarge(FIELD, frameLimit);
    // A request that is destroyed has no connection for the answer.
    return await readFrameFile(raw.iterator({ destroyOnReturn: false }), FIELD, frameLimit);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ECONNRESET') {
      throw new ScenedeltaError('malformed-body', 'The connection was closed before the image had ended');
    }
    drop(raw, bodyLimit);
    throw thrown;
  }
}

/** Reads the rest of a refused body, so that the caller can read the answer, and ends a connection that goes on. */
function drop(body: IncomingMessage, limit: number): void {
  let bytes = 0;
  body.on('data', (chunk: Uint8Array) => {
    bytes += chunk.length;
    if (bytes > limit) body.destroy();
  });
  body.resume();
}
