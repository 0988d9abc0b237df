/** A camera that sends 16-bit grey: its scene stays the same, and what is hot is found. */
import { describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { frameKey } from '../../src/base/blobs.js';
import { beforeAt, runsOn } from '../helpers/camera-runs.js';
import { pixelPipeline, setUpCamera, turnProcessor } from '../helpers/cameras.js';
import { levelsOf, png16 } from '../helpers/thermal.js';
import { useBench } from '../helpers/workers.js';

const bench = useBench();
const run = runsOn(() => bench);

describe.each(['previous', 'memory'])('A thermal camera with before: %s', (before) => {
  it('shows a hot thing against what stays, and starts again when its range is another one', async () => {
    const camera = await setUpCamera(bench, 'gate', { before });
    const { pipeline } = pixelPipeline();
    const frames = [{}, {}, { hotter: 900 }, { level: 31_000 }, { level: 31_000, hotter: 900 }];
    const comparisons = await run(
      camera,
      frames.map((scene, i) => [png16(levelsOf(scene)), 10 * i] as const),
      turnProcessor(bench, { pipeline }),
    );
    expect(comparisons.map(({ verdict }) => verdict)).toEqual(['none', 'none', 'change', 'none', 'change']);
    expect(comparisons.map((one) => beforeAt(one) === null)).toEqual([true, false, false, true, false]);
    const { after } = (await bench.results.get(comparisons[2]?.id ?? ''))?.frames ?? {};
    expect(after?.from === 'stored' && after.contentType).toBe('image/png');
    expect((await bench.cameras.state('gate'))?.levels?.low).toBeGreaterThan(30_000);
  });

  it('keeps its levels under a privacy zone, in which nothing is seen', async () => {
    const hidden = {
      id: 'p',
      type: 'privacy',
      polygon: [
        [0.5, 0],
        [1, 0],
        [1, 1],
        [0.5, 1],
      ],
    };
    const camera = await setUpCamera(bench, 'gate', { before, zones: [hidden] });
    const { pipeline } = pixelPipeline();
    const frames = [{}, {}, { hotter: 900 }];
    const comparisons = await run(
      camera,
      frames.map((scene, i) => [png16(levelsOf(scene)), 10 * i] as const),
      turnProcessor(bench, { pipeline }),
    );
    expect(comparisons.map(({ verdict }) => verdict)).toEqual(['none', 'none', 'change']);
    expect(comparisons.map((one) => beforeAt(one) === null)).toEqual([true, false, false]);
    const { after } = (await bench.results.get(comparisons[2]?.id ?? ''))?.frames ?? {};
    const shown = await bench.blobs.get(frameKey(after?.sha256 ?? ''));
    const { data, info } = await sharp(shown).raw().toBuffer({ resolveWithObject: true });
    const ofColumn = (x: number) => data.filter((_level, i) => Math.floor(i / info.channels) % info.width === x);
    expect(new Set(ofColumn(info.width - 1))).toEqual(new Set([0]));
    expect(new Set(ofColumn(2)).size).toBeGreaterThan(8);
  });
});
