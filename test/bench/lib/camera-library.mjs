/** The library call for the frames of one camera: the step of a sequence, with blobs in memory, without a service. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fresh } from './pairs.mjs';
import { dist } from './service.mjs';

const FRAME_MS = 1_000;

/**
 * @param {Buffer[]} sequence JPEGs in the order of time, sent again from the start after the last
 * @param {{ warmUp: number, frames: number }} counts frames before the figures, and frames that are measured
 * @returns CPU-ms per frame, frames per second, and the share of quiet frames
 */
export async function libraryCall(sequence, { warmUp, frames }) {
  const { loadConfig } = await dist('process/config.js');
  const { checkSettings } = await dist('camera/settings/settings.js');
  const { decodePreview } = await dist('frames/preview.js');
  const { createLogger } = await dist('process/logger.js');
  const { Pipeline } = await dist('pipeline/compare.js');
  const { createPreviewStore } = await dist('camera/fold/previews.js');
  const { initialCameraState } = await dist('camera/state/state.js');
  const { stepSequence } = await dist('camera/fold/step.js');
  const { frameKey } = await dist('base/blobs.js');

  const dataDir = mkdtempSync(join(tmpdir(), 'sd-bench-'));
  const config = { ...loadConfig(), dataDir };
  const pipeline = await Pipeline.start({ config, logger: createLogger({ level: 'warn', name: 'bench' }) });
  const kept = new Map();
  const blobs = { get: async (key) => kept.get(key), put: async (key, bytes) => void kept.set(key, bytes) };
  const deps = {
    blobs,
    pipeline,
    decodeLimits: config,
    previews: createPreviewStore({ blobs, decodeLimits: config }),
    fetchFrame: async (ref) => ({ bytes: kept.get(frameKey(ref.sha256)), ref }),
  };
  const [id, created_at] = ['library', new Date(0).toISOString()];
  const camera = { id, settings: checkSettings({}), reference: null, mask: null, created_at, updated_at: created_at };

  let state = initialCameraState();
  let quiet = 0;
  const step = async (i) => {
    const bytes = fresh(sequence[i % sequence.length]);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const frame = async () => {
      await blobs.put(frameKey(sha256), bytes);
      return { bytes, ref: { from: 'stored', sha256, bytes: bytes.length, contentType: 'image/jpeg' } };
    };
    const preview = () => decodePreview(bytes, { ...config, field: 'frame' });
    const signal = new AbortController().signal;
    const input = { camera, state, at: i * FRAME_MS, signal, events: [], alerting: true, comparisonId: `cmp_${i}` };
    const result = await stepSequence({ ...input, content: sha256, preview, frame }, deps);
    state = result.state;
    if (result.cameraFrame.nothing_new_since !== undefined) quiet++;
  };
  try {
    for (let i = 0; i < warmUp; i++) await step(i);
    quiet = 0;
    const [before, from] = [process.cpuUsage(), performance.now()];
    for (let i = warmUp; i < warmUp + frames; i++) await step(i);
    const { user, system } = process.cpuUsage(before);
    const seconds = (performance.now() - from) / 1000;
    return { cpu: (user + system) / 1000 / frames, rate: frames / seconds, quiet: quiet / frames };
  } finally {
    await pipeline.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
