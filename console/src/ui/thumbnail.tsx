/** A small picture of a frame, which the service may have erased since; it can alternate with the other frame. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** Pause before the other frame is requested, ms: a pointer that only passes requests nothing. */
const BEGIN_MS = 150;
const FLIP_MS = 800;
/** The other frame is shown three times: below the five seconds from which a movement needs a button that ends it. */
const FLIPS = 6;

interface Props {
  /** null: there is none */
  readonly src: string | null;
  /** the other frame of the comparison, which is requested once `isPlaying` */
  readonly other?: string | null;
  /** whether the two frames alternate; if the reader wants less motion, the other one stays */
  readonly isPlaying?: boolean;
  /** what stands in its place if it cannot be shown */
  readonly children?: ComponentChildren;
}

export function Thumbnail({ src, other = null, isPlaying = false, children }: Props) {
  const gone = useSignal<string | null>(null);
  const shown = useFlips(isPlaying && other !== null) ? other : src;
  if (src === null || gone.value === src) return <>{children}</>;
  return (
    <img
      src={gone.value === shown ? src : (shown ?? src)}
      alt=""
      loading="lazy"
      onError={() => {
        gone.value = shown;
      }}
    />
  );
}

/** @returns whether the other frame is shown now */
function useFlips(isPlaying: boolean): boolean {
  const [flips, setFlips] = useState(0);
  const most = matchMedia('(prefers-reduced-motion: reduce)').matches ? 1 : FLIPS;
  useEffect(() => {
    if (!isPlaying) setFlips(0);
    else if (flips < most) {
      const timer = setTimeout(() => setFlips(flips + 1), flips === 0 ? BEGIN_MS : FLIP_MS);
      return () => clearTimeout(timer);
    }
    return undefined;
  }, [isPlaying, flips, most]);
  return isPlaying && flips % 2 === 1;
}
