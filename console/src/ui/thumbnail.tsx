/** A small picture of a frame, which the service may have erased since. */

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

interface Props {
  /** null: there is none */
  readonly src: string | null;
  /** what stands in its place if it cannot be shown */
  readonly children?: ComponentChildren;
}

export function Thumbnail({ src, children }: Props) {
  const gone = useSignal<string | null>(null);
  if (src === null || gone.value === src) return <>{children}</>;
  return (
    <img
      src={src}
      alt=""
      loading="lazy"
      onError={() => {
        gone.value = src;
      }}
    />
  );
}
