/** The request of a frame by its address, over HTTP or RTSP. */
import type { Login } from '../secrets/login.js';

export interface FrameRequest {
  readonly maxBytes: number;
  /** name of the frame in errors */
  readonly field: string;
  readonly signal?: AbortSignal;
  readonly login?: Login | undefined;
  /** certificate that the host may have (process/connect.ts); undefined: the caller has no setting for it */
  readonly certificate?: string | null | undefined;
}
