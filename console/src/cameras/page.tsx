/** The page "Cameras": all cameras with their last frame and state, or one of them with its zones and rules. */
import { useSignal } from '@preact/signals';
import { useLocation } from 'wouter-preact';
import { messageOf } from '../api/client.js';
import type { Camera } from '../api/types.js';
import { session } from '../session.js';
import '../styles/cameras.css';
import '../styles/drawing.css';
import { t } from '../texts/texts.js';
import { CameraIdInput } from '../ui/camera-id-input.js';
import { Field } from '../ui/field.js';
import { usePolling } from '../ui/polling.js';
import { SureButton } from '../ui/sure-button.js';
import { OneCamera } from './camera-view.js';
import { Card } from './card.js';
import { LabelSelect } from './label-select.js';
import { type Preset, PresetChoice } from './preset.js';
import { SourceFields, snapshotOf, sourceOf } from './source.js';
import { createCamera, labelCameras, labelsIn, listCameras, type Order } from './store.js';
import { Trends } from './trends.js';

const AGAIN_MS = 5_000;

export function CamerasPage({ params }: { readonly params: { readonly camera?: string } }) {
  return params.camera === undefined ? <CameraList /> : <OneCamera key={params.camera} id={params.camera} />;
}

function CameraList() {
  const isAdding = useSignal(false);
  const q = useSignal('');
  const label = useSignal('');
  const sort = useSignal<Order>('state');
  const pages = useSignal(1);
  const found = useSignal<Awaited<ReturnType<typeof listCameras>> | null>(null);
  const keys = [q.value, label.value, sort.value, pages.value] as const;
  const read = async () => {
    const asked = keys.join();
    const query = { q: q.value.trim(), sort: sort.value, ...(label.value === '' ? {} : { label: label.value }) };
    const list = await listCameras(query, pages.value);
    // Another search may have begun meanwhile.
    if (asked === [q.value, label.value, sort.value, pages.value].join()) found.value = list;
  };
  const fault = usePolling(read, () => AGAIN_MS, keys);
  const all = found.value?.items;
  return (
    <div class="cameras">
      <header class="camera-head">
        <h1>{t('Cameras')}</h1>
        {session.value?.admin && (
          <button
            type="button"
            aria-expanded={isAdding.value}
            onClick={() => {
              isAdding.value = !isAdding.value;
            }}
          >
            {t('New camera')}
          </button>
        )}
        <search class="camera-search">
          <input
            type="search"
            aria-label={t('Search by name or id')}
            placeholder={t('Name or id')}
            maxLength={128}
            value={q.value}
            onInput={(event) => {
              q.value = event.currentTarget.value;
              pages.value = 1;
            }}
          />
          <LabelSelect
            cameras={all ?? []}
            value={label.value}
            onValue={(value) => {
              label.value = value;
              pages.value = 1;
            }}
          />
          <select
            aria-label={t('Order')}
            value={sort.value}
            onChange={(event) => {
              sort.value = event.currentTarget.value as Order;
            }}
          >
            <option value="state">{t('problems first')}</option>
            <option value="id">{t('by id')}</option>
          </select>
        </search>
      </header>
      {isAdding.value && <NewCamera />}
      {session.value?.admin && all !== undefined && all.length > 1 && (
        <SetLabels cameras={all} onSet={() => void read().catch(() => undefined)} />
      )}
      <p class="fault" role="alert">
        {fault.value}
      </p>
      {all === undefined && fault.value === '' && <p class="quiet">{t('Reading …')}</p>}
      {all?.length === 0 && (
        <p class="quiet">
          {q.value === '' && label.value === ''
            ? t('There is no camera yet.')
            : t('No camera has this in its name or id.')}
        </p>
      )}
      <ul class="camera-grid">
        {all?.map((camera) => (
          <li key={camera.id}>
            <Card camera={camera} />
          </li>
        ))}
      </ul>
      {found.value?.more && (
        <button
          type="button"
          onClick={() => {
            pages.value++;
          }}
        >
          {t('Show more')}
        </button>
      )}
      {all !== undefined && all.length > 0 && <Trends label={label.value} />}
    </div>
  );
}

function SetLabels({ cameras, onSet }: { readonly cameras: readonly Camera[]; readonly onSet: () => void }) {
  const text = useSignal('');
  const fault = useSignal('');
  const set = async () => {
    try {
      await labelCameras(
        cameras.map(({ id }) => id),
        labelsIn(text.value),
      );
      fault.value = '';
      onSet();
    } catch (error) {
      fault.value = messageOf(error);
    }
  };
  const n = cameras.length;
  return (
    <details class="set-labels">
      <summary>{t('Labels of the {n} cameras below', { n })}</summary>
      <Field
        name={t('Labels (with commas between them)')}
        maxLength={1024}
        value={text.value}
        onValue={(value) => {
          text.value = value;
        }}
      />
      <SureButton name={t('Set')} sure={t('Replace the labels of {n} cameras', { n })} onSure={() => void set()} />
      <p role="alert" class="fault">
        {fault.value}
      </p>
    </details>
  );
}

function NewCamera() {
  const id = useSignal('');
  const source = useSignal(sourceOf(null));
  const preset = useSignal<Preset | null>(null);
  const fault = useSignal('');
  const [, navigate] = useLocation();
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      const alerts = preset.value === null ? {} : { preset: preset.value };
      await createCamera(id.value, { snapshot: snapshotOf(source.value), ...alerts });
      navigate(`/cameras/${id.value}`);
    } catch (error) {
      fault.value = messageOf(error);
    }
  };
  return (
    <form class="new-camera" aria-label={t('New camera')} onSubmit={submit}>
      <CameraIdInput label={t('Id of the camera')} id={id} placeholder="gate-3" required />
      <PresetChoice
        value={preset.value}
        onValue={(value) => {
          preset.value = value;
        }}
      />
      <SourceFields id={id.value} draft={source} hasLogin={false} />
      <p role="alert" class="fault">
        {fault.value}
      </p>
      <button type="submit" class="primary">
        {t('Set up')}
      </button>
    </form>
  );
}
