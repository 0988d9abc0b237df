/** One camera: its zones on the last frame, its rules and its alarm budget. Changes count when they are saved. */
import { useComputed, useSignal } from '@preact/signals';
import { Link } from 'wouter-preact';
import { messageOf } from '../api/client.js';
import type { Zone } from '../api/types.js';
import { session } from '../session.js';
import { ago, shownTime } from '../ui/format.js';
import { toast } from '../ui/toasts.js';
import { DryRun } from './dry-run.js';
import { State } from './page.js';
import { newZone, type Polygon } from './polygon-edit.js';
import { Rules, type RulesDraft, rulesOf, settingsOf } from './rules.js';
import { type Overview, saveCamera } from './store.js';
import { ZoneCanvas } from './zone-canvas.js';
import { ZoneList } from './zone-list.js';

export function CameraView({ overview }: { readonly overview: Overview }) {
  const { camera, picture, detail } = overview;
  const admin = session.value?.admin ?? false;
  const zones = useSignal<readonly Zone[]>(camera.zones);
  const rules = useSignal<RulesDraft>(rulesOf(camera));
  const selected = useSignal<string | null>(null);
  const busy = useSignal(false);
  const fault = useSignal('');
  const edited = useComputed(
    () =>
      JSON.stringify(zones.value) !== JSON.stringify(camera.zones) ||
      JSON.stringify(rules.value) !== JSON.stringify(rulesOf(camera)),
  );
  const change = (id: string, part: Partial<Zone>) => {
    zones.value = zones.value.map((zone) => (zone.id === id ? { ...zone, ...part } : zone));
  };
  const remove = (id: string) => {
    zones.value = zones.value.filter((zone) => zone.id !== id);
    selected.value = null;
  };
  const add = () => {
    const zone = newZone(zones.value);
    zones.value = [...zones.value, zone];
    selected.value = zone.id;
  };
  const edits = () => ({ zones: [...zones.value], ...settingsOf(rules.value, camera) });
  const save = async () => {
    busy.value = true;
    fault.value = '';
    try {
      const saved = await saveCamera(camera, edits());
      zones.value = saved.zones;
      rules.value = rulesOf(saved);
      toast('Saved.');
    } catch (error) {
      fault.value = messageOf(error);
    } finally {
      busy.value = false;
    }
  };
  const lastAt = camera.status?.last_frame_at;
  return (
    <div class="camera">
      <header class="camera-head">
        <h1 class="clip">{camera.name ?? camera.id}</h1>
        <State overview={overview} />
        {camera.suspend_until !== null && Date.parse(camera.suspend_until) > Date.now() && (
          <span class="camera-state">no alerts before {shownTime(camera.suspend_until)}</span>
        )}
        <span class="quiet">
          {detail}
          {lastAt != null && ` (${ago(lastAt)})`}
        </span>
        <Link href={`/review?camera=${camera.id}`}>Its changes</Link>
      </header>
      <div class="camera-body">
        <ZoneCanvas
          picture={picture}
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
          <Rules camera={camera} draft={rules} zones={zones.value} />
          {admin && <DryRun camera={camera} settings={edits} />}
          {admin ? (
            <div class="camera-save">
              <button type="button" class="primary" disabled={busy.value || !edited.value} onClick={save}>
                Save
              </button>
              <span class="quiet">{edited.value ? 'Not saved yet.' : ''}</span>
            </div>
          ) : (
            <p class="quiet">Saving needs a key with the scope admin.</p>
          )}
          <p role="alert" class="fault">
            {fault.value}
          </p>
        </div>
      </div>
    </div>
  );
}
