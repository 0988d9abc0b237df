/** Both frames of a comparison side by side, with the outlines of what changed. */
import type { RgbImage, Side } from '../base/images.js';
import type { HeatmapData } from '../heatmaps/data.js';
import { renderOutline } from '../heatmaps/outline.js';
import { sideBySide } from '../heatmaps/render.js';
import { decodeFrame } from './decode.js';

/**
 * @param frames encoded bytes
 * @param heatmaps null: the frames are drawn without outlines
 * @param pixelLimit largest number of pixels per frame
 * @throws ScenedeltaError as `decodeFrame`
 */
export async function outlinedPair(
  frames: Readonly<Record<Side, Uint8Array>>,
  heatmaps: HeatmapData | null,
  pixelLimit: number,
): Promise<RgbImage> {
  const drawn = async (side: Side): Promise<RgbImage> => {
    const allocate = (bytes: number) => new Uint8Array(bytes);
    const frame = await decodeFrame(frames[side], { field: side, pixelLimit, allocate });
    return heatmaps === null ? frame : renderOutline(heatmaps[side], frame);
  };
  return sideBySide(await drawn('before'), await drawn('after'));
}
