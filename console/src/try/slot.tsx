/** Target for one frame: a dropped or chosen file, or an address. */
import { useRef, useState } from 'preact/hooks';
import type { Side } from '../api/types.js';
import { t } from '../texts/texts.js';
import { shownSize } from '../ui/format.js';
import type { FrameSource } from './compare.js';

const TYPES = 'image/jpeg,image/png,image/webp,image/avif,image/tiff,image/gif';

interface Props {
  readonly side: Side;
  readonly source: FrameSource | null;
  readonly fault: string;
  readonly onFiles: (files: readonly File[]) => void;
  readonly onAddress: (address: string) => void;
  readonly onClear: () => void;
}

export function Slot({ side, source, fault, onFiles, onAddress, onClear }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    event.stopPropagation();
    setOver(false);
    const files = [...(event.dataTransfer?.files ?? [])];
    const address = event.dataTransfer?.getData('text/uri-list') ?? '';
    if (files.length > 0) onFiles(files);
    else if (address !== '') onAddress(address);
  };
  return (
    <fieldset
      class={over ? 'slot over' : 'slot'}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <legend>{t(side)}</legend>
      {source?.kind === 'file' ? (
        <div class="slot-file">
          <Preview url={source.preview} />
          <p>
            <span class="clip">{source.file.name}</span> <span class="quiet">{shownSize(source.file.size)}</span>
          </p>
          <button
            type="button"
            onClick={onClear}
            aria-label={side === 'before' ? t('Remove the frame before') : t('Remove the frame after')}
          >
            {t('Remove')}
          </button>
        </div>
      ) : (
        <>
          <button type="button" class="slot-choose" onClick={() => input.current?.click()}>
            {t('Choose a picture')}
            <span class="quiet">{t('or drop or paste it here')}</span>
          </button>
          <input
            ref={input}
            type="file"
            accept={TYPES}
            multiple
            hidden
            aria-label={side === 'before' ? t('File of the frame before') : t('File of the frame after')}
            onChange={(event) => {
              onFiles([...(event.currentTarget.files ?? [])]);
              event.currentTarget.value = '';
            }}
          />
          <input
            type="url"
            placeholder={t('or its address: https://…')}
            aria-label={side === 'before' ? t('Address of the frame before') : t('Address of the frame after')}
            value={source?.kind === 'address' ? source.address : ''}
            onInput={(event) => onAddress(event.currentTarget.value.trim())}
          />
        </>
      )}
      <p role="alert" class="fault">
        {fault}
      </p>
    </fieldset>
  );
}

/** A format that the browser cannot show (TIFF) has no preview. */
function Preview({ url }: { readonly url: string }) {
  const [unreadable, setUnreadable] = useState<string | null>(null);
  if (unreadable === url) return <p class="quiet">{t('No preview of this format.')}</p>;
  return <img src={url} alt="" onError={() => setUnreadable(url)} />;
}
