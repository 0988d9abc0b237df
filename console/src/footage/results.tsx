/**
 * Results of a batch: the changes of one camera on its timeline, the selected one with both frames, and the recording
 * itself, if the user opens it from this computer. The service does not serve recordings, because it paints privacy
 * zones black in frames alone.
 */
import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { addressOf } from '../api/root.js';
import type { Side } from '../api/types.js';
import { PairView } from '../pair/pair-view.js';
import { t } from '../texts/texts.js';
import { Fact } from '../ui/fact.js';
import { percent, shownTime } from '../ui/format.js';
import { useKeys } from '../ui/keys.js';
import { VirtualList } from '../ui/virtual-list.js';
import { outlinesOf } from './outlines.js';
import { type RecordedChange, type Results, uploaded } from './store.js';
import { Timeline } from './timeline.js';
import { lineOf, shownSeconds, videoNamed } from './times.js';
import { captionsPath, Video } from './video.js';

/** The video begins somewhat before the first frame that shows the change. */
const LEAD_S = 2;

export function ResultsView({ id, results }: { readonly id: string; readonly results: Results }) {
  const { summary, changes, gaps } = results;
  const camera = useSignal(summary.cameras[0]?.camera ?? '');
  const text = useSignal('');
  const selected = useSignal<string | undefined>(undefined);
  const video = useSignal<{ readonly file: string; readonly url: string } | null>(null);
  const fault = useSignal('');
  const second = useSignal(0);
  const element = useRef<HTMLVideoElement>(null);
  const recorded = summary.cameras.find((one) => one.camera === camera.value);
  const shown = useComputed(() => {
    const wanted = text.value.toLowerCase();
    return changes.filter((change) => change.camera === camera.value && change.caption.toLowerCase().includes(wanted));
  }).value;
  const change = shown.find((one) => one.id === selected.value);
  const line = useMemo(() => lineOf(recorded ?? { files: [] }, shown), [recorded, shown]);

  const openVideo = (file: File) => {
    const name = videoNamed(recorded?.files ?? [], file.name);
    if (name === undefined) {
      const names = recorded?.files.filter(({ duration }) => duration !== null).map((one) => one.file) ?? [];
      fault.value = t('{file} is not a recording of {camera}, expected {files}.', {
        ...{ file: file.name, camera: camera.value },
        files: names.slice(0, 5).join(', ') || t('none: it has pictures alone'),
      });
      return;
    }
    fault.value = '';
    if (video.value !== null) URL.revokeObjectURL(video.value.url);
    video.value = { file: name, url: URL.createObjectURL(file) };
  };
  useEffect(() => {
    const file = uploaded.get(id)?.find(({ name }) => videoNamed(recorded?.files ?? [], name) !== undefined);
    if (file !== undefined) openVideo(file);
    return () => {
      if (video.peek() !== null) URL.revokeObjectURL(video.peek()?.url as string);
      video.value = null;
    };
  }, [id, camera.value]);

  const select = (wanted: string | undefined) => {
    const found = shown.find((one) => one.id === wanted);
    if (found === undefined) return;
    selected.value = found.id;
    const { file, seconds } = found.first_seen;
    if (element.current !== null && video.value?.file === file) {
      element.current.currentTime = Math.max(0, seconds - LEAD_S);
    }
  };
  const position = shown.findIndex((one) => one.id === selected.value);
  const step = (by: number) => () => select(shown[Math.min(Math.max(position + by, 0), shown.length - 1)]?.id);
  useKeys({ j: step(1), ArrowDown: step(1), k: step(-1), ArrowUp: step(-1) });

  const shownAt = (at: number) =>
    at < FIRST_CAPTURE_TIME ? shownSeconds(at / 1000) : shownTime(new Date(at).toISOString());
  const inVideo = video.value === null ? null : video.value.file;
  const duration = recorded?.files.find(({ file }) => file === inVideo)?.duration ?? 0;
  const span = inVideo === null ? line : { from: 0, to: duration * 1000 };
  const marks = shown
    .filter(({ first_seen }) => inVideo === null || first_seen.file === inVideo)
    .map((one) => ({
      id: one.id,
      at: inVideo === null ? line.timeOf(one.first_seen) : one.first_seen.seconds * 1000,
      text: `${momentText(one.first_seen)}: ${one.caption}`,
    }))
    .sort((a, b) => a.at - b.at);
  const shaded = gaps
    .filter((gap) => inVideo === null && gap.camera === camera.value)
    .map(({ from, to }) => [line.timeOf(from), line.timeOf(to)] as const);
  return (
    <section aria-label={t('Results')} class="results">
      <div class="results-tools">
        {summary.cameras.length > 1 && (
          <label>
            {t('Camera')}
            <select
              value={camera.value}
              onChange={(event) => {
                camera.value = event.currentTarget.value;
                selected.value = undefined;
              }}
            >
              {summary.cameras.map((one) => (
                <option key={one.camera} value={one.camera}>
                  {one.camera} ({one.changes})
                </option>
              ))}
            </select>
          </label>
        )}
        <label>
          {t('Text')}
          <input
            type="search"
            value={text.value}
            onInput={(event) => {
              text.value = event.currentTarget.value;
            }}
          />
        </label>
        <label>
          {t('Play the recording from this computer')}
          <input
            type="file"
            accept="video/*"
            onChange={(event) => {
              const file = event.currentTarget.files?.[0];
              if (file !== undefined) openVideo(file);
            }}
          />
        </label>
      </div>
      <p class="fault clip" role="alert">
        {fault.value}
      </p>
      <Captions
        batch={id}
        files={recorded?.files.flatMap(({ file, duration }) => (duration === null ? [] : [file])) ?? []}
      />
      <Timeline
        {...span}
        marks={marks}
        gaps={shaded}
        selected={selected.value}
        playhead={inVideo === null ? null : second.value * 1000}
        onSelect={select}
        label={shownAt}
      />
      <div class="results-body">
        <div class="results-list">
          <p class="quiet" role="status">
            {t('{n} change|{n} changes', { n: shown.length })}
            <kbd>j</kbd>
            <kbd>k</kbd>
          </p>
          {shown.length > 0 && (
            <VirtualList
              label={t('Changes')}
              items={shown}
              idOf={(one) => one.id}
              selected={selected.value}
              onSelect={select}
            >
              {(one) => (
                <>
                  <span class="row-title">{one.caption}</span>
                  <span class="row-facts">
                    <span>{momentText(one.first_seen)}</span>
                    {one.zone !== null && <span>{one.zone}</span>}
                    <span>{t(one.severity)}</span>
                  </span>
                </>
              )}
            </VirtualList>
          )}
        </div>
        <div class="results-detail">
          {video.value !== null && (
            <Video
              batch={id}
              url={video.value.url}
              file={video.value.file}
              element={element}
              onTime={(at) => {
                second.value = at;
              }}
            />
          )}
          {change && <Detail batch={id} change={change} />}
        </div>
      </div>
    </section>
  );
}

/** Links to the captions of each video, which players show over it. */
function Captions({ batch, files }: { readonly batch: string; readonly files: readonly string[] }) {
  if (files.length === 0) return null;
  return (
    <details>
      <summary>{t('Captions (WebVTT)')}</summary>
      <ul class="captions">
        {files.map((file) => (
          <li key={file} class="clip">
            <a href={captionsPath(batch, file)} download>
              {file}
            </a>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Times of a camera without capture times begin at 0. */
const FIRST_CAPTURE_TIME = Date.UTC(1980, 0, 1);

const momentText = ({ at, file, seconds }: RecordedChange['first_seen']): string =>
  at === null ? `${file}, ${shownSeconds(seconds)}` : shownTime(at);

function Detail({ batch, change }: { readonly batch: string; readonly change: RecordedChange }) {
  const { caption, first_seen, last_seen, pictured, settled, reverted, severity, status, confidence, zone } = change;
  const { pictures } = change;
  const urlOf = (side: Side) => (pictures[side] === null ? null : addressOf(`/v1/batches/${batch}/${pictures[side]}`));
  return (
    <article class="detail">
      <p class="sentence plain-sentence">{caption}</p>
      <PairView
        urls={{ before: urlOf('before'), after: urlOf('after') }}
        outlines={useMemo(() => outlinesOf(change), [change])}
      />
      <dl class="detail-facts">
        <Fact name={t('First seen')}>{momentText(first_seen)}</Fact>
        <Fact name={t('In the recording')}>
          {first_seen.file}, {shownSeconds(first_seen.seconds)}
        </Fact>
        {pictured !== undefined && <Fact name={t('Shown at')}>{momentText(pictured)}</Fact>}
        <Fact name={t('Last seen')}>{momentText(last_seen)}</Fact>
        {settled !== null && <Fact name={t('Settled')}>{momentText(settled)}</Fact>}
        {reverted !== null && <Fact name={t('Gone')}>{momentText(reverted)}</Fact>}
        {zone !== null && <Fact name={t('Zone')}>{zone}</Fact>}
        <Fact name={t('Severity')}>{t(severity)}</Fact>
        <Fact name={t('State')}>{t(status)}</Fact>
        <Fact name={t('Confidence')}>{percent(confidence)}</Fact>
      </dl>
    </article>
  );
}
