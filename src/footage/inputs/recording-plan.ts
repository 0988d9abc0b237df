/** The plan of a run: which files belong to which camera, in which order, and from when they are. */

export type { Every } from '../../schemas/recording.js';

/** Source of the bytes of an item. */
export type Location =
  | { readonly from: 'file'; readonly path: string }
  | { readonly from: 's3'; readonly bucket: string; readonly key: string }
  | { readonly from: 'url'; readonly url: string };

/** A video, or the image of one frame. */
export interface FootageItem {
  readonly kind: 'video' | 'image';
  /** as the input named it; records and messages use it */
  readonly file: string;
  readonly location: Location;
  /** capture time of its beginning, epoch ms */
  readonly at: number;
}

/** The recordings of one camera. */
export interface FootageSequence {
  readonly camera: string;
  /** in the order of time */
  readonly items: readonly FootageItem[];
  /** part that is wanted, epoch ms; `until` is exclusive */
  readonly range: { readonly from: number; readonly until: number };
  /** capture time of the end, epoch ms; for the progress display */
  readonly endsAt: number;
  /** time between two frames from which neither is compared with the other, ms; Infinity: never */
  readonly gapMs: number;
}
