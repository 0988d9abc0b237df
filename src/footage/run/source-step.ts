/** A sampled frame through the step of a live camera: its content, its preview, and its bytes as they are stored. */
import { createHash } from 'node:crypto';
import { frameKey } from '../../base/blobs.js';
import { ScenedeltaError } from '../../base/errors.js';
import { derivedId } from '../../base/ids.js';
import type { Preview } from '../../base/images.js';
import { LOSSY_MARGIN } from '../../base/privacy-mask.js';
import { fitShape, shapeOf } from '../../camera/baseline/frame-shape.js';
import type { FrameDependencies } from '../../camera/fold/examine.js';
import { levelFrame, NEW_RANGE } from '../../camera/fold/level-range.js';
import { type StepResult, stepSequence } from '../../camera/fold/step.js';
import { maskOf, type StoredCamera } from '../../camera/settings/camera.js';
import type { CameraState } from '../../camera/state/state.js';
import { type DecodeLimits, frameSize } from '../../frames/header.js';
import { storeFrame } from '../../frames/keep.js';
import { decodePreview } from '../../frames/preview.js';
import { maskedFrame, paintPolygon, paintPreview } from '../../frames/privacy-mask.js';
import type { StoredFrameRef } from '../../schemas/frame-ref.js';
import type { Picture, SourceFrame } from '../inputs/source-frames.js';
import { jpegOf } from './change-pictures.js';
import type { FramePreviews } from './frame-previews.js';
import type { MemoryBlobs } from './memory-blobs.js';

export interface SourceStepContext {
  readonly camera: StoredCamera;
  readonly pipeline: FrameDependencies['pipeline'];
  readonly decodeLimits: DecodeLimits;
  readonly blobs: MemoryBlobs;
  readonly previews: FramePreviews;
  readonly signal: AbortSignal;
}

/**
 * @param gapFrom capture time of the last frame before a gap, epoch ms: this frame is not compared with earlier ones;
 *   null: no gap
 * @throws ScenedeltaError as stepSequence does
 */
export async function stepSource(
  { at, picture: source }: SourceFrame,
  gapFrom: number | null,
  before: CameraState,
  { camera, pipeline, decodeLimits, blobs, previews, signal }: SourceStepContext,
): Promise<StepResult & { readonly comparisonId: string }> {
  const content = contentOf(source);
  const comparisonId = derivedId('cmp', at, `${camera.id}/${before.frames}`);
  const levelled = await levelPicture(source, before, decodeLimits);
  const { picture, state, notes } = await fitPicture(levelled, { blobs, decodeLimits });
  const stepped = await stepSequence(
    {
      camera,
      state,
      notes,
      at,
      signal,
      comparisonId,
      content,
      preview: () => previewOf(picture, camera, decodeLimits),
      frame: async () => storeFrame(blobs, await codedPicture(picture, camera, decodeLimits)),
      events: gapFrom !== null ? [{ type: 'baseline.reset' }] : levelled.isNewRange ? [NEW_RANGE] : [],
      alerting: false,
    },
    {
      pipeline,
      blobs,
      decodeLimits,
      previews,
      // Reads the frames back that earlier steps have stored.
      fetchFrame: async (ref, { field }) => {
        const bytes = ref.from === 'stored' ? await blobs.get(frameKey(ref.sha256)) : undefined;
        if (ref.from !== 'stored' || bytes === undefined) {
          throw new ScenedeltaError('gone', `${field}: the frame is not kept any more`, { field });
        }
        return { bytes, ref };
      },
    },
  );
  return { ...stepped, comparisonId };
}

interface LevelledPicture {
  readonly picture: Picture;
  readonly state: CameraState;
  readonly isNewRange: boolean;
}

/** @returns picture and state unaltered if the picture is not deep grey @throws ScenedeltaError as levelFrame */
async function levelPicture(picture: Picture, state: CameraState, limits: DecodeLimits): Promise<LevelledPicture> {
  const levelled = picture.from === 'video' ? null : await levelFrame(picture.bytes, state, limits);
  if (levelled === null) return { picture, state, isNewRange: false };
  return { ...levelled, picture: { from: 'image', bytes: levelled.bytes, contentType: 'image/png' } };
}

/** @returns the same picture if it has the shape of those before @throws ScenedeltaError as fitShape */
async function fitPicture(
  { picture, state }: LevelledPicture,
  { blobs, decodeLimits }: Pick<SourceStepContext, 'blobs' | 'decodeLimits'>,
) {
  const shape =
    picture.from === 'video'
      ? { size: picture.preview.source, pixels: async () => picture.image() }
      : shapeOf(picture.bytes, await frameSize(picture.bytes, { ...decodeLimits, field: 'frame' }), decodeLimits);
  const read = async ({ sha256 }: StoredFrameRef) => (await blobs.get(frameKey(sha256))) ?? null;
  const { bytes, ...fitted } = await fitShape(shape, state, { decodeLimits, read });
  return {
    ...fitted,
    picture: bytes === null ? picture : { from: 'image' as const, bytes, contentType: 'image/jpeg' },
  };
}

/** High enough that the coding adds nothing that resembles a change. */
const JPEG_QUALITY = 95;

/** @returns a text that equal frames share; to be asked for before the preview, which is masked in place */
const contentOf = (picture: Picture): string =>
  createHash('sha256')
    .update(picture.from === 'video' ? picture.preview.luma : picture.bytes)
    .digest('hex');

/** Masked, because it is compared and saved with the checkpoint. @throws ScenedeltaError 'image-unreadable' */
async function previewOf(picture: Picture, camera: StoredCamera, limits: DecodeLimits): Promise<Preview> {
  const preview =
    picture.from === 'video' ? picture.preview : await decodePreview(picture.bytes, { ...limits, field: 'frame' });
  for (const polygon of maskOf(camera)?.polygons ?? []) paintPreview(preview, polygon);
  return preview;
}

interface CodedPicture {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  /** id of the mask that is painted on the bytes */
  readonly mask?: string;
}

/** @returns the masked picture, coded if it is of a video @throws ScenedeltaError of a picture that is no image */
async function codedPicture(picture: Picture, camera: StoredCamera, limits: DecodeLimits): Promise<CodedPicture> {
  const mask = maskOf(camera);
  if (picture.from === 'video') {
    const image = picture.image();
    for (const polygon of mask?.polygons ?? []) paintPolygon(image, polygon, LOSSY_MARGIN);
    return { bytes: await jpegOf(image, JPEG_QUALITY), contentType: 'image/jpeg', ...(mask && { mask: mask.id }) };
  }
  const { bytes, contentType } = picture;
  return mask === null ? { bytes, contentType } : maskedFrame(bytes, mask, { ...limits, field: 'frame' });
}
