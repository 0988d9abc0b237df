/** Maps and boxes over the view of `before`, carried to `after` by homographies in fractions. */
import type { Box, Heatmap } from '../base/images.js';
import { type Homography, invert, project } from './homography.js';

/** Warps a map over the view of `before` to the frame of `after` (bilinear; 0 outside the map). */
export function carryMap(map: Heatmap, homography: Homography): Heatmap {
  const { width, height, data } = map;
  const out = { width, height, data: new Float32Array(data.length) };
  const back = invert(homography);
  if (back === null) return out;
  const at = (x: number, y: number): number =>
    data[Math.min(height - 1, Math.max(0, y)) * width + Math.min(width - 1, Math.max(0, x))] as number;
  for (let y = 0, to = 0; y < height; y++) {
    for (let x = 0; x < width; x++, to++) {
      const p = project(back, (x + 0.5) / width, (y + 0.5) / height);
      if (!(p.x >= 0 && p.y >= 0 && p.x <= 1 && p.y <= 1)) continue;
      const [u, v] = [p.x * width - 0.5, p.y * height - 0.5];
      const [x0, y0] = [Math.floor(u), Math.floor(v)];
      const [fx, fy] = [u - x0, v - y0];
      const top = at(x0, y0) * (1 - fx) + at(x0 + 1, y0) * fx;
      const low = at(x0, y0 + 1) * (1 - fx) + at(x0 + 1, y0 + 1) * fx;
      out.data[to] = top * (1 - fy) + low * fy;
    }
  }
  return out;
}

/** The bounding box, cut at the frame, of a box of `before` in `after`; null if `after` does not show it. */
export function carryBox(box: Box, homography: Homography): Box | null {
  const corners = [0, 1, 2, 3].map((i) =>
    project(homography, box.x + (i & 1) * box.width, box.y + (i >> 1) * box.height),
  );
  const clamp = (value: number) => Math.min(1, Math.max(0, value));
  const [xs, ys] = [corners.map((p) => clamp(p.x)), corners.map((p) => clamp(p.y))];
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  const [width, height] = [Math.max(...xs) - x, Math.max(...ys) - y];
  return width > 0 && height > 0 ? { x, y, width, height } : null;
}
