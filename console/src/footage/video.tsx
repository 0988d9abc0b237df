/** The recording with the sentences of its changes as captions. The video stays on this computer. */
import type { RefObject } from 'preact';
import { addressOf } from '../api/root.js';
import { t } from '../texts/texts.js';

interface Props {
  readonly batch: string;
  /** of the file that the user has opened */
  readonly url: string;
  /** as the records name it */
  readonly file: string;
  readonly element: RefObject<HTMLVideoElement>;
  /** seconds */
  readonly onTime: (at: number) => void;
}

export const captionsPath = (batch: string, file: string): string =>
  addressOf(`/v1/batches/${batch}/results?${new URLSearchParams({ format: 'vtt', file })}`);

export function Video({ batch, url, file, element, onTime }: Props) {
  return (
    <video
      ref={element}
      class="recording"
      src={url}
      controls
      preload="metadata"
      onTimeUpdate={(event) => onTime(event.currentTarget.currentTime)}
    >
      <track kind="captions" src={captionsPath(batch, file)} label={t('Changes')} default />
    </video>
  );
}
