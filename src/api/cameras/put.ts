/** Builder of the stored camera from the settings of a request. */
import { Type } from 'typebox';
import { checkSettings, type Zone } from '../../cameras/settings.js';
import { ScenedeltaError } from '../../errors.js';
import { decodeFrame } from '../../frames/decode.js';
import { sniffImage } from '../../frames/image-type.js';
import type { FrameKeeper, IncomingFrame } from '../../frames/keep.js';
import { newId } from '../../ids.js';
import type { AllowList } from '../../outbound/address.js';
import type { StoredFrameRef } from '../../schemas/frame-ref.js';
import { checker } from '../../schemas/validation-error.js';
import { type BlobStore, frameKey } from '../../stores/blobs.js';
import { maskOf, type StoredCamera } from '../../stores/cameras.js';
import { readFrame } from '../comparisons/frame-input.js';
import { assertUrl } from '../comparisons/url-policy.js';
import { parseTime } from '../parse-time.js';
import { type CameraRequest, CameraRequestSchema } from '../schemas/camera.js';

const { reference: referenceSchema } = (
  CameraRequestSchema as unknown as { properties: { reference: never } }
).properties;
const checkReference = checker(Type.Object({ reference: referenceSchema }));

export interface PutDependencies {
  readonly blobs: BlobStore;
  readonly keeper: FrameKeeper;
  readonly clock: () => number;
  readonly allow: AllowList;
  readonly frameLimit: number;
  readonly pixelLimit: number;
}

/**
 * @param earlier the camera before this request, undefined if it is new
 * @throws ScenedeltaError invalid-request, url-refused, image-unreadable, image-too-large, image-too-small,
 * payload-too-large, each naming the field; storage-unavailable
 */
export async function buildCamera(
  id: string,
  body: unknown,
  earlier: StoredCamera | undefined,
  deps: PutDependencies,
): Promise<StoredCamera> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ScenedeltaError('invalid-request', 'The request has no settings, expected a JSON object');
  }
  const { reference, ...rest } = body as Record<string, unknown>;
  checkReference({ reference });
  const settings = checkSettings(rest);
  const { callback_url } = settings.alerts;
  if (settings.suspend_until !== null) parseTime(settings.suspend_until, 'suspend_until');
  if (callback_url !== null) assertUrl(callback_url, 'alerts/callback_url', deps.allow);
  if (settings.snapshot !== null) assertUrl(settings.snapshot.url, 'snapshot/url', deps.allow);

  const now = new Date(deps.clock()).toISOString();
  const camera: StoredCamera = {
    id,
    settings,
    reference: null,
    mask: maskIdOf(settings.zones, earlier),
    created_at: earlier?.created_at ?? now,
    updated_at: now,
  };
  return {
    ...camera,
    reference: await referenceOf(reference as CameraRequest['reference'], camera, earlier, deps),
  };
}

/** Unchanged polygons keep their mask id, so that masked frames need not be masked again. */
function maskIdOf(zones: readonly Zone[], earlier: StoredCamera | undefined): string | null {
  const painted = (all: readonly Zone[]) =>
    JSON.stringify(all.filter(({ type }) => type === 'privacy').map(({ polygon }) => polygon));
  if (painted(zones) === '[]') return null;
  const same = earlier !== undefined && painted(earlier.settings.zones) === painted(zones);
  return same ? earlier.mask : newId('msk');
}

async function referenceOf(
  given: CameraRequest['reference'],
  camera: StoredCamera,
  earlier: StoredCamera | undefined,
  deps: PutDependencies,
): Promise<StoredFrameRef | null> {
  const field = 'reference';
  if (given === null || camera.settings.before !== 'reference') return null;
  if (given === undefined) {
    if (earlier?.reference == null || earlier.mask === camera.mask) return earlier?.reference ?? null;
    throw new ScenedeltaError(
      'invalid-request',
      'reference is not given, but the privacy zones have changed: expected the reference once more, ' +
        'or null for the next frame',
      { field },
    );
  }
  const frame =
    typeof given === 'object' && 'sha256' in given
      ? await storedFrame(given.sha256, deps.blobs)
      : readFrame(given, field, deps.frameLimit);
  if (frame.from !== 'bytes') {
    throw new ScenedeltaError(
      'invalid-request',
      'reference is an address, expected bytes in base64 or {"sha256"}',
      {
        field,
      },
    );
  }
  // Every comparison with a damaged reference would fail.
  await decodeFrame(frame.bytes, { field, pixelLimit: deps.pixelLimit });
  const ref = await deps.keeper.keep(frame, maskOf(camera), field);
  return ref as StoredFrameRef;
}

async function storedFrame(sha256: string, blobs: Pick<BlobStore, 'get'>): Promise<IncomingFrame> {
  const bytes = await blobs.get(frameKey(sha256));
  if (bytes !== undefined) {
    return { from: 'bytes', bytes, sha256, contentType: sniffImage(bytes, 'reference') };
  }
  throw new ScenedeltaError(
    'invalid-request',
    `reference is the frame ${sha256}, which is not stored (any more)`,
    {
      field: 'reference',
    },
  );
}
