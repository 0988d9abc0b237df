/** A camera whose frames go through `stepSequence`, all examined, with everything in memory. */
import { createHash } from 'node:crypto';
import { createPreviewStore } from '../../../dist/camera/fold/previews.js';
import { stepSequence } from '../../../dist/camera/fold/step.js';
import { checkSettings } from '../../../dist/camera/settings/settings.js';
import { initialCameraState } from '../../../dist/camera/state/state.js';
import { decodePreview } from '../../../dist/frames/preview.js';

const LIMITS = { pixelLimit: 50_000_000 };
const EPOCH = new Date(0).toISOString();

/**
 * @param {object} settings of the camera
 * @param {(input: object) => Promise<object>} compare in place of the pipeline
 * @param {(sha256: string, shows: unknown) => void} [onFrame] gets the second argument of each step
 * @returns a function that processes a frame, ten seconds after the one before
 */
export function sequenceOf(settings, compare, onFrame = () => {}) {
  const kept = new Map();
  const blobs = { put: async (key, bytes) => kept.set(key, bytes), get: async (key) => kept.get(key) };
  const checked = checkSettings({ ...settings, examine_every_s: 0 });
  const camera = { id: 'gate', settings: checked, reference: null, mask: null, created_at: EPOCH, updated_at: EPOCH };
  const deps = {
    blobs,
    decodeLimits: LIMITS,
    pipeline: { operatingPoints: () => [], compare },
    // A blended background is stored under the key of its blob.
    fetchFrame: async (ref) => {
      const key = [...kept.keys()].find((one) => one.endsWith(ref.sha256));
      return { bytes: kept.get(key), ref };
    },
    previews: createPreviewStore({ blobs, decodeLimits: LIMITS }),
  };
  let state = initialCameraState();
  let at = Date.UTC(2026, 5, 1, 12);
  return async (bytes, shows) => {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    kept.set(sha256, bytes);
    onFrame(sha256, shows);
    const ref = { from: 'stored', sha256, bytes: bytes.length, contentType: 'image/jpeg' };
    const earlier = state;
    const result = await stepSequence(
      {
        ...{ camera, state, at, signal: new AbortController().signal, events: [], alerting: true, content: sha256 },
        comparisonId: `cmp_${at}`,
        preview: () => decodePreview(bytes, { ...LIMITS, field: 'frame' }),
        frame: async () => ({ bytes, ref }),
      },
      deps,
    );
    ({ state } = result);
    at += 10_000;
    return { ...result, earlier };
  };
}
