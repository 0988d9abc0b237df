/** Film of a camera around a time: its frames one after the other, or those of the nearest visit or change. */
import { useEffect, useState } from 'preact/hooks';
import { api, cropAddress, frameAddress, ok } from '../api/client.js';
import { otherSide } from '../api/types.js';
import { t } from '../texts/texts.js';
import type { Mark } from './day-marks.js';

/** Time before the frames are asked for, ms: a pointer that only passes asks for none. */
const SETTLE_MS = 250;
const FRAME_MS = 400;
/** Frames within this time of the moment belong to it. */
const AROUND_MS = 45_000;
const MOST = 20;

interface Props {
  /** place on the line, 0 to 1 */
  readonly share: number;
  /** undefined: none is near */
  readonly camera: string | undefined;
  /** epoch ms */
  readonly at: number;
  readonly title: string;
  readonly near: Mark | undefined;
}

export function Film({ share, camera, at, title, near }: Props) {
  const [frames, setFrames] = useState<readonly string[]>([]);
  const [shown, setShown] = useState(0);
  useEffect(() => {
    let current = true;
    const timer = setTimeout(async () => {
      const found = camera === undefined ? [] : await framesOf(camera, at).catch(() => []);
      if (current) setFrames(found.length > 0 || near === undefined ? found : bothSides(near));
    }, SETTLE_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [camera, at, near?.id]);
  useEffect(() => {
    if (frames.length < 2 || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    const timer = setInterval(() => setShown((count) => count + 1), FRAME_MS);
    return () => clearInterval(timer);
  }, [frames]);
  const src = frames[shown % Math.max(frames.length, 1)];
  return (
    <figure class="film" style={{ left: `clamp(0px, calc(${100 * share}% - 9rem), calc(100% - 18rem))` }}>
      {src === undefined ? <p class="frame-gone">{t('No frame of this time')}</p> : <img src={src} alt="" />}
      <figcaption>
        <b>{title}</b> {near?.text}
      </figcaption>
    </figure>
  );
}

/** @returns addresses of the frames around the time, in their order */
async function framesOf(camera: string, at: number): Promise<string[]> {
  const time = (offset: number) => new Date(at + offset).toISOString();
  const query = { camera, since: time(-AROUND_MS), until: time(AROUND_MS), limit: MOST };
  const { items } = await ok(api.GET('/v1/comparisons', { params: { query } }));
  return items.map(({ id }) => frameAddress(id, 'after', 'small')).reverse();
}

const bothSides = ({ picture: { comparison, side, box } }: Mark): string[] =>
  [otherSide(side), side].map((one) => cropAddress(comparison, one, box));
