/** A camera as a card: its last frame, its state and a sentence. */
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Camera } from '../api/types.js';
import { t } from '../texts/texts.js';
import { ago } from '../ui/format.js';
import { Thumbnail } from '../ui/thumbnail.js';
import { State } from './camera-state.js';
import { detailOf } from './problem.js';
import { pictureOf } from './store.js';

interface Props {
  readonly camera: Camera;
  /** default: about its state or its last frame */
  readonly sentence?: string | undefined;
  readonly size?: 'full' | 'small';
}

export function Card({ camera, sentence = detailOf(camera), size = 'small' }: Props) {
  const [isActive, setActive] = useState(false);
  const lastAt = camera.overview?.last_frame_at;
  return (
    <Link
      href={`/cameras/${camera.id}`}
      class="camera-card"
      onMouseEnter={() => setActive(true)}
      onMouseLeave={() => setActive(false)}
      onFocus={() => setActive(true)}
      onBlur={() => setActive(false)}
    >
      <Thumbnail src={pictureOf(camera, size)} other={pictureOf(camera, size, 'before')} isPlaying={isActive}>
        <span class="frame-gone">{t('No frame')}</span>
      </Thumbnail>
      <b class="clip">{camera.name ?? camera.id}</b>
      <span class="camera-facts">
        <State camera={camera} />
        {lastAt != null && <span class="quiet">{ago(lastAt)}</span>}
      </span>
      <span class="quiet clip camera-detail">{sentence}</span>
      {camera.labels.length > 0 && <span class="quiet clip">{camera.labels.join(', ')}</span>}
    </Link>
  );
}
