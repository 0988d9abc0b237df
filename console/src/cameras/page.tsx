/** The page "Cameras": all cameras with their last frame and state, or one of them with its zones and rules. */
import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { messageOf } from '../api/client.js';
import { recoveries } from '../api/connection.js';
import { watchEvents } from '../api/events.js';
import { session } from '../session.js';
import '../styles/cameras.css';
import '../styles/drawing.css';
import { CameraIdInput } from '../ui/camera-id-input.js';
import { ago } from '../ui/format.js';
import { State } from './camera-state.js';
import { CameraView } from './camera-view.js';
import { SourceFields, snapshotOf, sourceOf } from './source.js';
import { createCamera, loadOverviews, type Overview, overviews, refresh } from './store.js';

/** Cameras that send a frame per second would otherwise be read as often. */
const REFRESH_MS = 2_000;

export function CamerasPage({ params }: { readonly params: { readonly camera?: string } }) {
  const fault = useSignal('');
  const isAdding = useSignal(false);
  useSignalEffect(() => {
    recoveries.value;
    loadOverviews().then(
      () => {
        fault.value = '';
      },
      (error: unknown) => {
        fault.value = messageOf(error);
      },
    );
  });
  useEffect(() => {
    const waiting = new Map<string, ReturnType<typeof setTimeout>>();
    const stop = watchEvents(({ type, camera }) => {
      if (type.startsWith('change.') || camera === null || waiting.has(camera)) return;
      const read = () => {
        waiting.delete(camera);
        void refresh(camera).catch(() => undefined);
      };
      waiting.set(camera, setTimeout(read, REFRESH_MS));
    });
    return () => {
      stop();
      for (const timer of waiting.values()) clearTimeout(timer);
    };
  }, []);
  const all = overviews.value;
  if (all === null) return <p class={fault.value === '' ? 'quiet' : 'fault'}>{fault.value || 'Reading …'}</p>;
  if (params.camera !== undefined) {
    const found = all.find(({ camera }) => camera.id === params.camera);
    return found === undefined ? (
      <p class="fault">There is no camera {params.camera} among those of this key.</p>
    ) : (
      <CameraView key={found.camera.id} overview={found} />
    );
  }
  return (
    <div class="cameras">
      <header class="camera-head">
        <h1>Cameras</h1>
        {session.value?.admin && (
          <button
            type="button"
            aria-expanded={isAdding.value}
            onClick={() => {
              isAdding.value = !isAdding.value;
            }}
          >
            New camera
          </button>
        )}
      </header>
      {isAdding.value && <NewCamera />}
      <p class="fault">{fault.value}</p>
      {all.length === 0 && <p class="quiet">There is no camera yet.</p>}
      <ul class="camera-grid">
        {all.map((one) => (
          <li key={one.camera.id}>
            <Card overview={one} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function Card({ overview }: { readonly overview: Overview }) {
  const { camera, picture } = overview;
  const lastAt = camera.status?.last_frame_at;
  return (
    <Link href={`/cameras/${camera.id}`} class="camera-card">
      {picture === null ? <span class="frame-gone">No frame</span> : <img src={picture} alt="" loading="lazy" />}
      <span class="clip">
        <b>{camera.name ?? camera.id}</b>
      </span>
      <span class="camera-facts">
        <State overview={overview} />
        {lastAt != null && <span class="quiet">{ago(lastAt)}</span>}
      </span>
    </Link>
  );
}

function NewCamera() {
  const id = useSignal('');
  const source = useSignal(sourceOf(null));
  const fault = useSignal('');
  const [, navigate] = useLocation();
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      await createCamera(id.value, { before: 'memory', snapshot: snapshotOf(source.value) });
      navigate(`/cameras/${id.value}`);
    } catch (error) {
      fault.value = messageOf(error);
    }
  };
  return (
    <form class="new-camera" aria-label="New camera" onSubmit={submit}>
      <CameraIdInput label="Id of the camera" id={id} placeholder="gate-3" required />
      <SourceFields id={id.value} draft={source} hasLogin={false} />
      <p role="alert" class="fault">
        {fault.value}
      </p>
      <button type="submit" class="primary">
        Set up
      </button>
    </form>
  );
}
