/** The request of a batch, as the API has checked it and the store keeps it. */
import type { Box } from '../../base/images.js';
import type { Polygon } from '../../base/polygon.js';
import type { CameraSettings } from '../../camera/settings/settings.js';
import type { Every } from '../../schemas/recording.js';
import type { Visibility } from '../redis/visibility.js';

/** Source of files. An upload lies in the folder of the batch. */
export type BatchInput =
  | { readonly from: 's3'; readonly bucket: string; readonly prefix: string }
  | { readonly from: 'url'; readonly url: string }
  | { readonly from: 'upload'; readonly name: string; readonly number: number };

/** A search for the moment at which a place changed. */
export interface WhenRequest {
  /** fractions of the frame */
  readonly place: Box | Polygon;
  /** ends of the search; null: all of the recording */
  readonly between: { readonly from: TimeInRecording; readonly until: TimeInRecording } | null;
  /** seconds between two frames of a video */
  readonly every: number;
  /** seconds for which something may stand before the place */
  readonly covered: number;
}
/** A capture time (epoch ms), or seconds from the beginning of the recording. */
export type TimeInRecording = { readonly at: number } | { readonly seconds: number };

export interface BatchRequest {
  /** absent: every change is looked for, with the settings below */
  readonly when?: WhenRequest;
  readonly inputs: readonly BatchInput[];
  /** number of the upload that is a manifest; null: none */
  readonly manifest: number | null;
  /** name of the camera of files that name none; null: the name of their folder */
  readonly camera: string | null;
  readonly settings: CameraSettings;
  /** text of a template or name of a preset; null: none */
  readonly template: string | null;
  /** IANA name; null: that of the preset, or UTC */
  readonly timeZone: string | null;
  /** capture time of the first file, epoch ms; null: by the names and the files */
  readonly start: number | null;
  /** seconds between two pictures without a time, with `start` */
  readonly imageInterval: number;
  /** epoch ms; null: unbounded */
  readonly since: number | null;
  readonly until: number | null;
  readonly every: Every;
  readonly acrossGaps: boolean;
  /** seconds; null: changes are not merged */
  readonly mergeWindow: number | null;
  readonly metadata?: unknown;
  /** of the key: only cameras that it sees lend their privacy zones; absent: 0.2.0 or earlier stored it, and all do */
  readonly visibility?: Visibility;
}
