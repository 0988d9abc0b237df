/** Sends a new batch. Files are streamed by the browser, which reports how much has been sent. */
import type { paths } from '../../../openapi/generated/api.js';
import { ApiError, problemOf } from '../api/client.js';
import { reportAway, reportReached } from '../api/connection.js';
import { addressOf } from '../api/root.js';
import { t } from '../texts/texts.js';
import type { Batch } from './store.js';

export type BatchOptions = Partial<
  paths['/v1/batches']['post']['requestBody']['content']['application/json'] & { inputs: string[] }
>;

export interface NewBatch {
  readonly request: BatchOptions;
  readonly footage: readonly File[];
  readonly manifest: File | null;
}

/**
 * @param onProgress is called with the share of the bytes that has been sent, 0 to 1
 * @param signal aborts the upload
 * @throws ApiError with the problem of the service
 */
export function sendBatch(
  { request, footage, manifest }: NewBatch,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<Batch> {
  const form = new FormData();
  form.append('request', JSON.stringify(request));
  for (const file of footage) form.append('footage', file, file.name);
  if (manifest !== null) form.append('manifest', manifest, manifest.name);
  // fetch reports no progress of an upload.
  const sending = new XMLHttpRequest();
  return new Promise((resolve, reject) => {
    sending.open('POST', addressOf('/v1/batches'));
    sending.setRequestHeader('X-CSRF-Protection', '1');
    sending.responseType = 'json';
    sending.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total);
    sending.onload = () => {
      reportReached();
      if (sending.status === 202) resolve(sending.response as Batch);
      else reject(problemOf(sending.response, sending.status));
    };
    sending.onerror = () => {
      reportAway();
      reject(new ApiError(0, t('The service cannot be reached, or it ended the upload.')));
    };
    sending.onabort = () => reject(new ApiError(0, t('The upload was ended.')));
    signal.addEventListener('abort', () => sending.abort());
    sending.send(form);
  });
}
