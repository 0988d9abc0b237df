/** The page "Wall": chosen cameras with their newest frame and last sentence, live, for a screen on a wall. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { useSearchParams } from 'wouter-preact';
import { live, watchEvents } from '../api/events.js';
import type { Camera } from '../api/types.js';
import '../styles/cameras.css';
import { t } from '../texts/texts.js';
import { ago } from '../ui/format.js';
import { usePolling } from '../ui/polling.js';
import { Card } from './card.js';
import { LabelSelect } from './label-select.js';
import { detailOf, hasProblem } from './problem.js';
import { type LastSentence, lastSentenceOf, listCameras, readCamera } from './store.js';

/** Events come at once; this finds new cameras, and those whose frames stop. */
const AGAIN_MS = 15_000;
/** Events of one camera within this time lead to one reading. */
const TOGETHER_MS = 150;
const MOST_TILES = 64;
/** Up to so many tiles are larger than the small picture of a list. */
const LARGE_TILES = 4;

export function WallPage() {
  const [query, setQuery] = useSearchParams();
  const [label, chosen] = [query.get('label') ?? '', query.getAll('camera')];
  const cameras = useSignal<readonly Camera[] | null>(null);
  const sentences = useSignal<ReadonlyMap<string, LastSentence | null>>(new Map());
  const wall = useRef<HTMLUListElement>(null);
  const isShown = (camera: Camera) =>
    (chosen.length === 0 || chosen.includes(camera.id)) && (label === '' || camera.labels.includes(label));
  const fitting = cameras.value?.filter(isShown) ?? [];
  const shown = fitting.slice(0, MOST_TILES);

  const readSentence = async (id: string) => {
    const last = await lastSentenceOf(id);
    sentences.value = new Map([...sentences.peek(), [id, last]]);
  };
  const read = async () => {
    cameras.value = (await listCameras({ q: '', sort: 'state' }, Number.POSITIVE_INFINITY)).items;
  };
  const fault = usePolling(read, () => AGAIN_MS);
  const ids = shown.map(({ id }) => id).join();
  useEffect(() => {
    for (const { id } of shown) if (!sentences.peek().has(id)) void readSentence(id).catch(() => undefined);
  }, [ids]);
  useEffect(() => {
    const waiting = new Map<string, ReturnType<typeof setTimeout>>();
    const follow = async (id: string) => {
      waiting.delete(id);
      const [camera] = await Promise.all([readCamera(id), readSentence(id)]);
      cameras.value = cameras.peek()?.map((one) => (one.id === id ? camera : one)) ?? null;
    };
    const close = watchEvents(({ camera: id }) => {
      if (id === null || waiting.has(id) || !ids.split(',').includes(id)) return;
      waiting.set(
        id,
        setTimeout(() => void follow(id).catch(() => undefined), TOGETHER_MS),
      );
    });
    return () => {
      close();
      for (const timer of waiting.values()) clearTimeout(timer);
    };
  }, [ids]);

  /** @returns why the camera shows nothing new, or the last sentence about it; undefined: neither is known */
  const sentenceOf = (camera: Camera): string | undefined => {
    if (hasProblem(camera)) return detailOf(camera);
    const last = sentences.value.get(camera.id);
    return last == null ? undefined : `${ago(last.at)}: ${last.caption}`;
  };
  const choose = (next: { readonly label?: string; readonly chosen?: readonly string[] }) =>
    setQuery(
      new URLSearchParams([
        ...[next.label ?? label].filter(Boolean).map((value) => ['label', value]),
        ...(next.chosen ?? chosen).map((id) => ['camera', id]),
      ]),
      { replace: true },
    );
  return (
    <div class="cameras">
      <header class="camera-head">
        <h1>{t('Wall')}</h1>
        <span class="quiet" role="status">
          {fitting.length > MOST_TILES
            ? t('{n} of {count} cameras: choose some', { n: MOST_TILES, count: fitting.length })
            : t('{n} camera|{n} cameras', { n: fitting.length })}
          {live.value && `, ${t('live')}`}
        </span>
        <LabelSelect cameras={cameras.value ?? []} value={label} onValue={(value) => choose({ label: value })} />
        {document.fullscreenEnabled && (
          <button type="button" onClick={() => void wall.current?.requestFullscreen()}>
            {t('Fill the screen')}
          </button>
        )}
      </header>
      <details>
        <summary>{t('Choose cameras (none: all)')}</summary>
        <fieldset class="wall-choice">
          <legend>{t('Cameras')}</legend>
          {cameras.value?.map(({ id, name }) => (
            <label key={id} class="check">
              <input
                type="checkbox"
                checked={chosen.includes(id)}
                onChange={({ currentTarget: { checked } }) =>
                  choose({ chosen: checked ? [...chosen, id] : chosen.filter((one) => one !== id) })
                }
              />
              {name ?? id}
            </label>
          ))}
        </fieldset>
      </details>
      <p class="fault" role="alert">
        {fault.value}
      </p>
      <ul class="wall" ref={wall}>
        {shown.map((camera) => (
          <li key={camera.id} class={hasProblem(camera) ? 'problem' : ''}>
            <Card camera={camera} sentence={sentenceOf(camera)} size={shown.length > LARGE_TILES ? 'small' : 'full'} />
          </li>
        ))}
      </ul>
    </div>
  );
}
