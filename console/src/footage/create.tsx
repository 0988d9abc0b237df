/** Form of a new batch: files of this computer, addresses, or a manifest, and how they are processed. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { messageOf } from '../api/client.js';
import { readCameras } from '../api/pages.js';
import type { Camera } from '../api/types.js';
import { withSettings } from '../cameras/store.js';
import { assertFits } from '../session.js';
import { t } from '../texts/texts.js';
import { CameraIdInput } from '../ui/camera-id-input.js';
import { percent } from '../ui/format.js';
import { NO_PLACE, PlaceFields, searchOf } from './place-form.js';
import { type BatchOptions, sendBatch } from './send.js';
import { type Batch, keepBatch, uploaded } from './store.js';

const SOURCES = [
  ['files', t('Files')],
  ['addresses', t('Addresses')],
  ['manifest', t('Manifest')],
] as const;
type Source = (typeof SOURCES)[number][0];

const INTERVALS = [
  ['1s', t('one frame per second')],
  ['10s', t('one frame per 10 seconds')],
  ['1m', t('one frame per minute')],
] as const;
const SAMPLING = {
  changes: [
    ['auto', t('key frames, or one frame per second')],
    ...INTERVALS,
    ['keyframes', t('all key frames')],
    ['all', t('all frames')],
  ],
  when: INTERVALS,
} as const;
const MODES = [
  ['changes', t('Every change')],
  ['when', t('When one place changed')],
] as const;
type Mode = (typeof MODES)[number][0];

export function CreateBatch({ onCreated }: { readonly onCreated: (batch: Batch) => void }) {
  const source = useSignal<Source>('files');
  const files = useSignal<readonly File[]>([]);
  const addresses = useSignal('');
  const camera = useSignal('');
  const mode = useSignal<Mode>('changes');
  const place = useSignal(NO_PLACE);
  const every = useSignal<string>(SAMPLING.changes[0][0]);
  const start = useSignal('');
  const like = useSignal('');
  const cameras = useSignal<readonly Camera[]>([]);
  const sent = useSignal<number | null>(null);
  const fault = useSignal('');
  const abort = useRef<AbortController | null>(null);
  useEffect(() => {
    readCameras().then(
      (found) => {
        cameras.value = found;
      },
      () => undefined,
    );
    return () => abort.current?.abort();
  }, []);

  const lines = addresses.value.split(/\s+/).filter((line) => line !== '');
  const isSearch = mode.value === 'when';
  const hasFootage = source.value === 'addresses' ? lines.length > 0 : files.value.length > 0;
  const isReady = hasFootage && (!isSearch || place.value.box !== null);
  const send = async (event: Event) => {
    event.preventDefault();
    fault.value = '';
    const chosen = cameras.value.find(({ id }) => id === like.value);
    const request: BatchOptions = {
      every: every.value,
      metadata: { name: source.value === 'addresses' ? lines[0] : files.value.map(({ name }) => name).join(', ') },
      ...(source.value === 'addresses' ? { inputs: lines } : {}),
      ...(camera.value === '' ? {} : { camera: camera.value }),
      ...(start.value === '' ? {} : { start: new Date(start.value).toISOString() }),
      ...(isSearch ? searchOf(place.value) : chosen === undefined ? {} : { settings: recordedSettings(chosen) }),
    };
    try {
      for (const file of files.value) assertFits(file, 'footage', 'footage');
      abort.current = new AbortController();
      sent.value = 0;
      const footage = source.value === 'files' ? files.value : [];
      const manifest = source.value === 'manifest' ? (files.value[0] ?? null) : null;
      const progress = (share: number) => {
        sent.value = share;
      };
      const batch = await sendBatch({ request, footage, manifest }, progress, abort.current.signal);
      uploaded.set(batch.id, footage);
      keepBatch(batch);
      onCreated(batch);
    } catch (error) {
      fault.value = messageOf(error);
    } finally {
      sent.value = null;
    }
  };
  return (
    <form class="create-batch" onSubmit={send} aria-label={t('New batch')}>
      <h2>{t('New batch')}</h2>
      <fieldset>
        <legend class="quiet">{t('Recordings')}</legend>
        {SOURCES.map(([name, label]) => (
          <label key={name}>
            <input
              type="radio"
              name="source"
              checked={source.value === name}
              onChange={() => {
                source.value = name;
                files.value = [];
              }}
            />
            {label}
          </label>
        ))}
      </fieldset>
      {source.value === 'addresses' ? (
        <label>
          {t('Addresses, one per line')}
          <textarea
            rows={3}
            placeholder="s3://archive/2026-06-01/ or https://…"
            value={addresses.value}
            onInput={(event) => {
              addresses.value = event.currentTarget.value;
            }}
          />
        </label>
      ) : (
        <label key={source.value}>
          {source.value === 'files' ? t('Videos or pictures') : `${t('A file of lines')} {"file", "camera", "at"}`}
          <input
            type="file"
            multiple={source.value === 'files'}
            accept={source.value === 'files' ? 'video/*,image/*' : '.ndjson,.jsonl,.json,.txt'}
            onChange={(event) => {
              files.value = [...(event.currentTarget.files ?? [])];
            }}
          />
        </label>
      )}
      <fieldset>
        <legend class="quiet">{t('Find')}</legend>
        {MODES.map(([name, label]) => (
          <label key={name}>
            <input
              type="radio"
              name="mode"
              checked={mode.value === name}
              onChange={() => {
                mode.value = name;
                every.value = SAMPLING[name][0][0];
              }}
            />
            {label}
          </label>
        ))}
      </fieldset>
      {isSearch && (
        <PlaceFields
          draft={place}
          recording={source.value === 'files' ? files.value[0] : undefined}
          cameras={cameras.value}
        />
      )}
      <div class="pair-of-fields">
        <CameraIdInput label={t('Camera')} id={camera} placeholder={t('by the folder')} />
        <label>
          {t('First frame at')}
          <input
            type="datetime-local"
            step="1"
            value={start.value}
            onInput={(event) => {
              start.value = event.currentTarget.value;
            }}
          />
        </label>
      </div>
      <label>
        {isSearch ? t('Frames to choose from') : t('Frames to look at')}
        <select
          value={every.value}
          onChange={(event) => {
            every.value = event.currentTarget.value;
          }}
        >
          {SAMPLING[mode.value].map(([value, meaning]) => (
            <option key={value} value={value}>
              {meaning}
            </option>
          ))}
        </select>
      </label>
      {!isSearch && (
        <label>
          {t('Zones and rules')}
          <select
            value={like.value}
            onChange={(event) => {
              like.value = event.currentTarget.value;
            }}
          >
            <option value="">{t('the defaults')}</option>
            {cameras.value.map(({ id, name }) => (
              <option key={id} value={id}>
                {t('as {name}', { name: name ?? id })}
              </option>
            ))}
          </select>
        </label>
      )}
      {sent.value === null ? (
        <button type="submit" class="primary" disabled={!isReady}>
          {isSearch ? t('Find the moment') : t('Find the changes')}
        </button>
      ) : (
        <div class="batch-progress" role="status">
          <progress value={sent.value} max={1} aria-label={t('Share that has been sent')} />
          <span>{t('{share} sent', { share: percent(sent.value) })}</span>
          <button type="button" onClick={() => abort.current?.abort()}>
            {t('Stop')}
          </button>
        </div>
      )}
      <p role="alert" class="fault clip">
        {fault.value}
      </p>
    </form>
  );
}

/** A recording has no snapshots and no receiver of alerts. */
const recordedSettings = (camera: Camera) =>
  withSettings(camera, { snapshot: null, alerts: { ...camera.alerts, callback_url: null } }) as never;
