/** One camera: its zones on the last frame, its rules and its false-alarm budget. Changes count when they are saved. */
import { type ReadonlySignal, type Signal, signal, useComputed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { systemClock } from '../../../src/base/clock.js';
import { messageOf } from '../api/client.js';
import type { Camera, Zone } from '../api/types.js';
import { session } from '../session.js';
import { t } from '../texts/texts.js';
import { ago, shownTime } from '../ui/format.js';
import { usePolling } from '../ui/polling.js';
import { SureButton } from '../ui/sure-button.js';
import { toast } from '../ui/toasts.js';
import { State } from './camera-state.js';
import { DryRun } from './dry-run.js';
import { newZone, type Polygon } from './polygon-edit.js';
import { detailOf } from './problem.js';
import { Rules, type RulesDraft, rulesOf, settingsOf } from './rules.js';
import { type SourceDraft, SourceFields, snapshotOf, sourceOf } from './source.js';
import { deleteCamera, patchOf, pictureOf, readCamera, saveCamera } from './store.js';
import { ZoneCanvas } from './zone-canvas.js';
import { ZoneList } from './zone-list.js';

interface Draft {
  readonly zones: Signal<readonly Zone[]>;
  readonly rules: Signal<RulesDraft>;
  readonly source: Signal<SourceDraft>;
}
/** By camera, what was edited and not saved: it is there again when the camera is opened again. */
const drafts = new Map<string, Draft>();

function draftOf(camera: Camera): Draft {
  const kept = drafts.get(camera.id);
  if (kept !== undefined) return kept;
  const draft = {
    zones: signal<readonly Zone[]>(camera.zones),
    rules: signal(rulesOf(camera)),
    source: signal(sourceOf(camera.snapshot)),
  };
  drafts.set(camera.id, draft);
  return draft;
}

const differs = (one: unknown, other: unknown): boolean => JSON.stringify(one) !== JSON.stringify(other);

/**
 * A draft without edits is dropped, so that the next one begins with the stored settings. The browser asks before it
 * leaves the page with edits.
 */
function useUnsaved(camera: string, edited: ReadonlySignal<boolean>): void {
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => {
      if (edited.peek()) event.preventDefault();
    };
    addEventListener('beforeunload', ask);
    return () => {
      removeEventListener('beforeunload', ask);
      if (!edited.peek()) drafts.delete(camera);
    };
  }, []);
}

const AGAIN_MS = 3_000;

/** Reads the camera, again and again, and shows it. */
export function OneCamera({ id }: { readonly id: string }) {
  const camera = useSignal<Camera | null>(null);
  const read = async () => {
    camera.value = await readCamera(id);
  };
  const fault = usePolling(read, () => AGAIN_MS, [id]);
  return (
    <>
      <p class="fault" role="alert">
        {fault.value}
      </p>
      {camera.value === null && fault.value === '' && <p class="quiet">{t('Reading …')}</p>}
      {camera.value && <CameraView camera={camera.value} onChanged={read} />}
    </>
  );
}

interface Props {
  readonly camera: Camera;
  readonly onChanged: () => Promise<unknown>;
}

function CameraView({ camera, onChanged }: Props) {
  const [, navigate] = useLocation();
  const admin = session.value?.admin ?? false;
  const { zones, rules, source } = draftOf(camera);
  const selected = useSignal<string | null>(null);
  const busy = useSignal(false);
  const fault = useSignal('');
  const notes = useSignal<NonNullable<Camera['notes']>>([]);
  const isSourceEdited = useComputed(() => differs(source.value, sourceOf(camera.snapshot)));
  const edited = useComputed(
    () => isSourceEdited.value || differs(zones.value, camera.zones) || differs(rules.value, rulesOf(camera)),
  );
  const change = (id: string, part: Partial<Zone>) => {
    zones.value = zones.value.map((zone) => (zone.id === id ? { ...zone, ...part } : zone));
  };
  const remove = (id: string) => {
    zones.value = zones.value.filter((zone) => zone.id !== id);
    selected.value = null;
  };
  const discard = () => {
    zones.value = camera.zones;
    rules.value = rulesOf(camera);
    source.value = sourceOf(camera.snapshot);
    selected.value = null;
  };
  useUnsaved(camera.id, edited);
  const add = (type: Zone['type']) => {
    const zone = newZone(zones.value, type);
    zones.value = [...zones.value, zone];
    selected.value = zone.id;
  };
  const edits = () => ({ zones: [...zones.value], ...settingsOf(rules.value, camera) });
  const save = async () => {
    busy.value = true;
    fault.value = '';
    try {
      const snapshot = isSourceEdited.value ? { snapshot: snapshotOf(source.value) } : {};
      const saved = await saveCamera(camera.id, { ...patchOf(camera, edits()), ...snapshot });
      await onChanged();
      zones.value = saved.zones;
      rules.value = rulesOf(saved);
      source.value = sourceOf(saved.snapshot);
      notes.value = saved.notes ?? [];
      toast(t('Saved.'));
    } catch (error) {
      fault.value = messageOf(error);
    } finally {
      busy.value = false;
    }
  };
  const erase = async () => {
    try {
      await deleteCamera(camera.id);
      drafts.delete(camera.id);
      navigate('/cameras');
    } catch (error) {
      fault.value = messageOf(error);
    }
  };
  const lastAt = camera.overview?.last_frame_at;
  return (
    <div class="camera">
      <header class="camera-head">
        <h1 class="clip">{camera.name ?? camera.id}</h1>
        <State camera={camera} />
        {camera.suspend_until !== null && Date.parse(camera.suspend_until) > systemClock() && (
          <span class="camera-state">{t('no alerts before {time}', { time: shownTime(camera.suspend_until) })}</span>
        )}
        <span class="quiet">
          {detailOf(camera)}
          {lastAt != null && ` (${ago(lastAt)})`}
        </span>
        <Link href={`/review?camera=${camera.id}`}>{t('Its changes')}</Link>
      </header>
      <div class="camera-body">
        <ZoneCanvas
          picture={pictureOf(camera, 'full')}
          zones={zones.value}
          selected={selected.value}
          onSelect={(id) => {
            selected.value = id;
          }}
          onPolygon={(id: string, polygon: Polygon) => change(id, { polygon: polygon.map(([x, y]) => [x, y]) })}
          onRemove={remove}
        />
        <div class="camera-side">
          <ZoneList
            zones={zones.value}
            selected={selected.value}
            onSelect={(id) => {
              selected.value = id;
            }}
            onChange={change}
            onRemove={remove}
            onAdd={add}
          />
        </div>
      </div>
      <div class="camera-sections">
        {admin && (
          <div class="panel">
            <SourceFields id={camera.id} draft={source} hasLogin={camera.status?.snapshot_login ?? false} />
          </div>
        )}
        <Rules camera={camera} draft={rules} zones={zones.value} />
        {admin && (
          <div class="panel">
            <DryRun camera={camera} settings={edits} />
          </div>
        )}
      </div>
      <footer class="camera-foot">
        {notes.value.map(({ field, detail }) => (
          <p key={field} class="fault clip">
            {detail}
          </p>
        ))}
        {admin ? (
          <div class="camera-save">
            <button type="button" class="primary" disabled={busy.value || !edited.value} onClick={save}>
              {t('Save')}
            </button>
            {edited.value && (
              <button type="button" onClick={discard}>
                {t('Discard')}
              </button>
            )}
            <span class="quiet">{edited.value ? t('Not saved yet.') : ''}</span>
            <SureButton name={t('Delete')} sure={t('Delete the camera and all its changes')} onSure={erase} />
          </div>
        ) : (
          <p class="quiet">{t('Saving needs a key with the scope admin.')}</p>
        )}
        <p role="alert" class="fault">
          {fault.value}
        </p>
      </footer>
    </div>
  );
}
