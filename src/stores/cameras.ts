/** Cameras: settings, what they remember between two frames, and the frames that wait for their turn. Redis (cameras-redis.ts). */

import type { BackgroundModel } from '../cameras/background-model.js';
import type { Light } from '../cameras/light.js';
import type { Polygon } from '../cameras/polygon.js';
import type { CameraSettings } from '../cameras/settings.js';
import { privacyPolygons } from '../cameras/zones.js';
import type { TrackerState } from '../changes/state.js';
import { ScenedeltaError } from '../errors.js';
import type { StoredFrameRef } from '../jobs/payloads.js';

export interface StoredCamera {
  readonly id: string;
  readonly settings: CameraSettings;
  /** what `before: reference` compares with, masked; null: the next frame becomes it */
  readonly reference: StoredFrameRef | null;
  /** identity of the privacy polygons, another one whenever they change; null where there are none */
  readonly mask: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export const noCamera = (id: string): ScenedeltaError =>
  new ScenedeltaError('not-found', `There is no camera ${id}: set it up with PUT /v1/cameras/${id}`);

/** What is painted on a camera's frames. */
export interface PrivacyMask {
  /** StoredCamera.mask */
  readonly id: string;
  readonly polygons: readonly Polygon[];
}

/** A frame that was worked on. Times are captured times in epoch ms. */
export interface FrameDone {
  readonly at: number;
  readonly sha256: string;
  readonly comparison: string;
}

export const maskOf = ({ mask, settings }: StoredCamera): PrivacyMask | null =>
  mask === null ? null : { id: mask, polygons: privacyPolygons(settings.zones) };

/** Between two frames of a camera; saved with each comparison, in one step. Plain JSON. */
export interface CameraState {
  readonly v: 1;
  /** frames that were worked on */
  readonly frames: number;
  readonly last: FrameDone | null;
  /** upright size of the last frame */
  readonly size: { readonly width: number; readonly height: number } | null;
  /** typical time between two frames, ms */
  readonly intervalMs: number | null;
  /** the earlier frame that the next is compared with */
  readonly anchor: { readonly frame: StoredFrameRef; readonly at: number } | null;
  readonly light: Light | null;
  readonly memory: BackgroundModel<StoredFrameRef>;
  /** threshold that the dial came to, and the false alarms a day to be expected with it */
  readonly dial: { readonly threshold: number; readonly alarms_per_day: number } | null;
  readonly alerts: TrackerState;
  /** by which setting the last frame was compared, and with which given reference: where that changes, the life of changes begins anew */
  readonly against?: string;
}

/** How the last snapshot pull ended. */
export interface SnapshotOutcome {
  readonly at: string;
  /** null where it brought a frame */
  readonly error: string | null;
}

export interface CameraStore {
  /** @returns whether it is new. @throws ScenedeltaError 'queue-unavailable' where Redis is away; so do all the others. */
  put(camera: StoredCamera): Promise<boolean>;
  get(id: string): Promise<StoredCamera | undefined>;
  /** By id. @param after the last id of the page before */
  list(query: { after?: string; limit: number }): Promise<StoredCamera[]>;
  /** The mask of a camera; null where it has none, or the camera no settings. */
  maskOf(id: string | null): Promise<PrivacyMask | null>;
  state(id: string): Promise<CameraState | undefined>;
  snapshot(id: string): Promise<SnapshotOutcome | undefined>;
  saveSnapshot(id: string, outcome: SnapshotOutcome): Promise<void>;
  /** A pull of the camera begins, unless another is under way. @param ttlMs longer than a pull takes. @returns whether it may. */
  beginPull(id: string, token: string, ttlMs: number): Promise<boolean>;
  /** Nothing where it has become another's meanwhile. */
  endPull(id: string, token: string): Promise<void>;
  /** Comparisons created before (epoch ms) have lost their frames by the camera's own retention; 0 where none have. */
  framesErasedUntil(id: string): Promise<number>;
  saveFramesErasedUntil(id: string, until: number): Promise<void>;
  /**
   * A comparison waits for the camera's turn; saying so twice changes nothing.
   * @param capturedAt epoch ms
   * @returns whether there is such a camera
   */
  addFrame(id: string, comparisonId: string, capturedAt: number): Promise<boolean>;
  waitingFrames(id: string): Promise<number>;
  /** Settings, memory and waiting frames. A turn under way can no longer be saved. @returns whether there was such a camera. */
  erase(id: string): Promise<boolean>;
}
