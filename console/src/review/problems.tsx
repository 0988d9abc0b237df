/** The cameras that show nothing new, above the list: silence would otherwise look like a quiet day. */
import { useSignal } from '@preact/signals';
import { Link } from 'wouter-preact';
import type { Camera } from '../api/types.js';
import { detailOf, hasProblem } from '../cameras/problem.js';
import { listCameras } from '../cameras/store.js';
import { t } from '../texts/texts.js';
import { ago } from '../ui/format.js';
import { usePolling } from '../ui/polling.js';

const AGAIN_MS = 15_000;
const MOST = 3;

export function Problems() {
  const cameras = useSignal<readonly Camera[]>([]);
  usePolling(
    async () => {
      // They come first in this order.
      cameras.value = (await listCameras({ q: '', sort: 'state' }, 1)).items.filter(hasProblem);
    },
    () => AGAIN_MS,
  );
  if (cameras.value.length === 0) return null;
  const left = cameras.value.length - MOST;
  return (
    <ul class="problems" aria-label={t('Cameras without a new picture')}>
      {cameras.value.slice(0, MOST).map((camera) => (
        <li key={camera.id}>
          <Link href={`/cameras/${camera.id}`}>{camera.name ?? camera.id}</Link> {detailOf(camera)}
          {camera.overview?.last_frame_at != null && ` (${ago(camera.overview.last_frame_at)})`}
        </li>
      ))}
      {left > 0 && (
        <li>
          <Link href="/wall">{t('{n} more camera|{n} more cameras', { n: left })}</Link>
        </li>
      )}
    </ul>
  );
}
