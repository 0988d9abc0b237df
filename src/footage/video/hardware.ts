/** The hardware decoder that ffmpeg uses for recordings (its option `-hwaccel`), chosen once per program. */
import { LRUCache } from 'lru-cache';
import { notFound } from '../../base/errors.js';
import type { Config } from '../../process/config.js';
import { lastReason, run } from './run.js';

/** `auto` takes the first one that can be opened. */
const KINDS = ['cuda', 'vaapi', 'videotoolbox', 'vdpau'] as const satisfies readonly Config['ffmpegHwaccel'][];
type Kind = (typeof KINDS)[number];
const TIMEOUT_MS = 20_000;

const chosen = new LRUCache<string, { readonly kind: Kind | null }>({ max: 16 });

/**
 * @param wanted a kind; auto: any that there is; none
 * @returns null: the CPU decodes
 * @throws ScenedeltaError not-found if the wanted kind cannot be opened; processing-timeout; cancelled
 */
export async function hardwareDecoder(
  ffmpeg: string,
  wanted: Config['ffmpegHwaccel'],
  signal: AbortSignal,
): Promise<Kind | null> {
  if (wanted === 'none') return null;
  const key = `${wanted} ${ffmpeg}`;
  const known = chosen.get(key) ?? { kind: await choose(ffmpeg, wanted, signal) };
  chosen.set(key, known);
  return known.kind;
}

async function choose(ffmpeg: string, wanted: Kind | 'auto', signal: AbortSignal): Promise<Kind | null> {
  for (const kind of wanted === 'auto' ? KINDS : [wanted]) {
    const reason = await failureOf(ffmpeg, kind, signal);
    if (reason === null) return kind;
    if (kind === wanted) {
      throw notFound(
        `FFMPEG_HWACCEL ${kind}: ${ffmpeg} cannot use it (${reason}), expected auto, none or another kind`,
      );
    }
  }
  return null;
}

/** Opens the device without a video. @returns why it cannot be used; null: it can */
async function failureOf(ffmpeg: string, kind: Kind, signal: AbortSignal): Promise<string | null> {
  const nothing = ['-f', 'lavfi', '-i', 'nullsrc=size=64x64', '-frames:v', '1', '-f', 'null', '-'];
  const args = ['-hide_banner', '-nostdin', '-loglevel', 'error', '-init_hw_device', kind, ...nothing];
  const { status, stderr } = await run(ffmpeg, args, { signal, timeoutMs: TIMEOUT_MS, needsAddressSpace: true });
  return status === 0 ? null : lastReason(stderr);
}
