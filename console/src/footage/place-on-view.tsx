/**
 * The place of a search, drawn on a frame that shows it: a recording or a picture of this computer, or the last frame
 * of a camera. Nothing of it is sent before the search begins.
 */
import { type Signal, useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { messageOf } from '../api/client.js';
import type { Box, Camera } from '../api/types.js';
import { pictureOf, readCamera } from '../cameras/store.js';
import { t } from '../texts/texts.js';
import { percent } from '../ui/format.js';
import { BoxCanvas } from './box-canvas.js';
import { MIDDLE } from './box-edit.js';
import { shownSeconds } from './times.js';

interface View {
  readonly url: string;
  readonly isVideo: boolean;
  /** an address in memory, which is released after use */
  readonly isOwn: boolean;
}
const viewOf = (file: File): View => ({
  url: URL.createObjectURL(file),
  isVideo: !file.type.startsWith('image/'),
  isOwn: true,
});

interface Props {
  /** of this computer; undefined: there is none */
  readonly recording: File | undefined;
  readonly cameras: readonly Camera[];
  readonly box: Box | null;
  readonly onBox: (box: Box | null) => void;
}

export function PlaceOnView({ recording, cameras, box, onBox }: Props) {
  const view = useSignal<View | null>(null);
  const fault = useSignal('');
  const show = (next: View | null) => {
    const earlier = view.peek();
    if (earlier?.isOwn) URL.revokeObjectURL(earlier.url);
    view.value = next;
    fault.value = '';
  };
  useEffect(() => {
    show(recording === undefined ? null : viewOf(recording));
    return () => show(null);
  }, [recording]);
  const refuse = () => {
    show(null);
    fault.value = t('The browser cannot show this file. Choose a picture of the same view.');
  };
  return (
    <>
      {view.value === null ? (
        <ViewChoice cameras={cameras} onView={show} fault={fault} />
      ) : (
        <OnView key={view.value.url} view={view.value} box={box} onBox={onBox} onFault={refuse} />
      )}
      <p class="fault" role="alert">
        {fault.value}
      </p>
    </>
  );
}

interface ChoiceProps extends Pick<Props, 'cameras'> {
  readonly onView: (view: View) => void;
  readonly fault: Signal<string>;
}

function ViewChoice({ cameras, onView, fault }: ChoiceProps) {
  const showCamera = async (id: string) => {
    try {
      const url = pictureOf(await readCamera(id), 'full');
      if (url === null) fault.value = t('No frame of {id} is kept.', { id });
      else onView({ url, isVideo: false, isOwn: false });
    } catch (error) {
      fault.value = messageOf(error);
    }
  };
  return (
    <div class="pair-of-fields">
      <label>
        {t('A picture of the view')}
        <input
          type="file"
          accept="image/*,video/*"
          onChange={(event) => {
            const file = event.currentTarget.files?.[0];
            if (file !== undefined) onView(viewOf(file));
          }}
        />
      </label>
      {cameras.length > 0 && (
        <label>
          {t('or the last frame of')}
          <select value="" onChange={(event) => showCamera(event.currentTarget.value)}>
            <option value="" disabled>
              {t('a camera')}
            </option>
            {cameras.map(({ id, name }) => (
              <option key={id} value={id}>
                {name ?? id}
              </option>
            ))}
          </select>
        </label>
      )}
    </div>
  );
}

interface OnViewProps extends Pick<Props, 'box' | 'onBox'> {
  readonly view: View;
  readonly onFault: () => void;
}

function OnView({ view: { url, isVideo }, box, onBox, onFault }: OnViewProps) {
  const ratio = useSignal(9 / 16);
  const duration = useSignal(0);
  const video = useRef<HTMLVideoElement>(null);
  const size = (width: number, height: number) => {
    if (width > 0) ratio.value = height / width;
  };
  return (
    <>
      <BoxCanvas ratio={ratio.value} box={box} onBox={onBox}>
        {isVideo ? (
          <video
            ref={video}
            src={url}
            muted
            playsInline
            preload="auto"
            onLoadedMetadata={({ currentTarget: { videoWidth, videoHeight, duration: length } }) => {
              size(videoWidth, videoHeight);
              duration.value = length;
            }}
            onError={onFault}
          />
        ) : (
          <img
            src={url}
            alt={t('The view')}
            draggable={false}
            onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) => size(naturalWidth, naturalHeight)}
            onError={onFault}
          />
        )}
      </BoxCanvas>
      {Number.isFinite(duration.value) && duration.value > 0 && <Seek video={video} duration={duration.value} />}
      <div class="place-tools">
        <button type="button" onClick={() => onBox(box === null ? MIDDLE : null)}>
          {box === null ? t('Put a box in the middle') : t('Remove the box')}
        </button>
        <span class="quiet" role="status">
          {box === null ? t('Draw a box around the place.') : shownBox(box)}
        </span>
      </div>
    </>
  );
}

const shownBox = ({ x, y, width, height }: Box): string =>
  t('{width} × {height} of the frame, at {x}, {y}', {
    ...{ width: percent(width), height: percent(height), x: percent(x), y: percent(y) },
  });

/** @param duration seconds */
function Seek({ video, duration }: { readonly video: RefObject<HTMLVideoElement>; readonly duration: number }) {
  const second = useSignal(0);
  return (
    <label class="place-seek">
      {t('Frame at {time}', { time: shownSeconds(second.value) })}
      <input
        type="range"
        min="0"
        max={duration}
        step="0.1"
        value={second.value}
        aria-valuetext={shownSeconds(second.value)}
        onInput={(event) => {
          second.value = Number(event.currentTarget.value);
          if (video.current !== null) video.current.currentTime = second.value;
        }}
      />
    </label>
  );
}
