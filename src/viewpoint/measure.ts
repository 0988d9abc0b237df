/** Everything that the scores are computed from, as one list of named numbers per pair. */
import type { Side } from '../images.js';
import type { Grain } from './grain.js';
import { measureColour, measureExposure, measureLight } from './measure-light.js';
import { measureChanged, measureDetail } from './measure-structure.js';
import { measureEdgeChange, measureFineDifferences, measureGrainChange } from './measure-texture.js';
import type { Measurements } from './measurements.js';
import { fitLighting, type LightingFit } from './photometric.js';
import type { Plane } from './planes.js';
import type { Registration } from './registration.js';
import type { Tiles } from './tiles.js';

/**
 * @param registration null if the frames could not be registered
 * @param tiled both frames in the view of `before`; as they are if they could not be registered
 * @param luma of `before`, at working size
 * @param grains of both frames at their own resolution
 */
export function measure(
  registration: Registration | null,
  tiled: Tiles,
  luma: Plane,
  grains: Readonly<Record<Side, Grain>>,
): { readonly measurements: Measurements; readonly lighting: LightingFit } {
  const { tiles } = tiled;
  const lighting = fitLighting(tiles);
  const measurements: Measurements = {
    refused: registration === null ? 1 : 0,
    displacement: registration === null ? 0 : Math.log1p(640 * registration.displacement),
    hidden: registration === null ? 0 : 1 - registration.overlap,
    ...measureLight(tiles, lighting),
    ...measureColour(tiles),
    ...measureDetail(tiles, lighting),
    ...measureExposure(tiles),
    ...measureGrainChange(grains.before, grains.after),
    ...measureFineDifferences(tiled, luma, lighting),
    ...measureChanged(tiled, lighting),
    ...measureEdgeChange(tiled, luma),
  };
  return { measurements, lighting };
}
