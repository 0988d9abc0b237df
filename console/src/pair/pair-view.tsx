/** The two frames of a comparison with their outlines: beside each other, alternating, or under a slider. */
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { otherSide, type Side } from '../api/types.js';
import { t } from '../texts/texts.js';
import { useKeys } from '../ui/keys.js';
import { type Outlines, UNITS } from './outlines.js';

const MODES = [
  ['slider', t('Slider'), '1'],
  ['blink', t('Blink'), '2'],
  ['side', t('Side by side'), '3'],
] as const;
type Mode = (typeof MODES)[number][0];

const BLINK_MS = 800;
/** Stays while the person moves from one change to the next. */
const mode = signal<Mode>(matchMedia('(min-width: 60rem)').matches ? 'side' : 'slider');
const outlined = signal(true);

export interface PairProps {
  readonly urls: Readonly<Record<Side, string | null>>;
  readonly outlines: Outlines | null;
}

export function PairView({ urls, outlines }: PairProps) {
  const choose = (chosen: Mode) => () => {
    mode.value = chosen;
  };
  const toggle = () => {
    outlined.value = !outlined.value;
  };
  useKeys({ ...Object.fromEntries(MODES.map(([name, , key]) => [key, choose(name)])), o: toggle });
  const shown = outlined.value ? outlines : null;
  return (
    <section class="pair" aria-label={t('The two frames')}>
      <div class="pair-tools" role="toolbar" aria-label={t('How to compare')}>
        {MODES.map(([name, label, key]) => (
          <button
            key={name}
            type="button"
            aria-pressed={mode.value === name}
            aria-keyshortcuts={key}
            onClick={choose(name)}
          >
            {label}
            <kbd>{key}</kbd>
          </button>
        ))}
        <button type="button" aria-pressed={outlined.value} aria-keyshortcuts="o" onClick={toggle}>
          {t('Outlines')}
          <kbd>o</kbd>
        </button>
      </div>
      {mode.value === 'side' && <SideBySide urls={urls} outlines={shown} />}
      {mode.value === 'slider' && <Slider urls={urls} outlines={shown} />}
      {mode.value === 'blink' && <Blink urls={urls} outlines={shown} />}
    </section>
  );
}

function SideBySide({ urls, outlines }: PairProps) {
  return (
    <div class="pair-side">
      {(['before', 'after'] as const).map((side) => (
        <figure key={side}>
          <Frame side={side} url={urls[side]} outline={outlines?.[side]} />
          <figcaption>{t(side)}</figcaption>
        </figure>
      ))}
    </div>
  );
}

function Slider({ urls, outlines }: PairProps) {
  const [share, setShare] = useState(50);
  return (
    <div class="pair-stack">
      <Frame side="before" url={urls.before} outline={outlines?.before} />
      <div class="pair-top" style={{ clipPath: `inset(0 0 0 ${share}%)` }}>
        <Frame side="after" url={urls.after} outline={outlines?.after} />
      </div>
      <input
        type="range"
        min="0"
        max="100"
        step="0.5"
        value={share}
        aria-label={t('Share of the frame before, in percent')}
        onInput={(event) => setShare(Number(event.currentTarget.value))}
      />
      <span class="pair-handle" style={{ left: `${share}%` }} aria-hidden="true" />
      <span class="pair-label left">{t('before')}</span>
      <span class="pair-label right">{t('after')}</span>
    </div>
  );
}

function Blink({ urls, outlines }: PairProps) {
  const [side, setSide] = useState<Side>('before');
  const [running, setRunning] = useState(!matchMedia('(prefers-reduced-motion: reduce)').matches);
  const flip = () => setSide(otherSide);
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(flip, BLINK_MS);
    return () => clearInterval(timer);
  }, [running]);
  const flipByHand = () => {
    setRunning(false);
    flip();
  };
  useKeys({ b: flipByHand });
  return (
    <>
      <div class="pair-stack" data-side={side}>
        <Frame side="before" url={urls.before} outline={outlines?.before} />
        <div class="pair-top" hidden={side === 'before'}>
          <Frame side="after" url={urls.after} outline={outlines?.after} />
        </div>
        <span class="pair-label left">{t(side)}</span>
      </div>
      <div class="pair-tools">
        <button type="button" aria-pressed={running} onClick={() => setRunning(!running)}>
          {running ? t('Pause') : t('Alternate')}
        </button>
        <button type="button" aria-keyshortcuts="b" onClick={flipByHand}>
          {t('Show the other')}
          <kbd>b</kbd>
        </button>
      </div>
    </>
  );
}

interface FrameProps {
  readonly side: Side;
  readonly url: string | null;
  readonly outline?: string | undefined;
}

/** One frame with its outline. The drawing is stretched over the picture; its lines keep their width. */
function Frame({ side, url, outline }: FrameProps) {
  const [gone, setGone] = useState<string | null>(null);
  if (url === null || gone === url) {
    return (
      <p class="frame-gone">
        {url === null
          ? t('No preview')
          : side === 'before'
            ? t('The frame "before" is not available any more.')
            : t('The frame "after" is not available any more.')}
      </p>
    );
  }
  return (
    <div class="frame">
      <img
        src={url}
        alt={side === 'before' ? t('Frame before') : t('Frame after')}
        draggable={false}
        onError={() => setGone(url)}
      />
      {outline && (
        <svg viewBox={`0 0 ${UNITS} ${UNITS}`} preserveAspectRatio="none" aria-hidden="true" data-outline={side}>
          <path class="tint" d={outline} />
          <path class="casing" d={outline} />
          <path class="line" d={outline} />
        </svg>
      )}
    </div>
  );
}
