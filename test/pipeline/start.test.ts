import { cp, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyOfTiny, put } from '../model/tiny-bundle.js';
import { image, log, modelsFolder, RED, removeLater, startTiny } from './tiny-pipeline.js';

describe('Pipeline.start', () => {
  it('describes the bundles it serves and logs the broken one', async () => {
    const pipeline = await startTiny();
    const models = pipeline.models();
    await pipeline.close();
    expect(models).toEqual([
      expect.objectContaining({ name: 'bundle-tiny', version: '0.0.1', provider: 'cpu', default: true }),
    ]);
    expect(log.error).toHaveBeenCalledWith(
      {
        model: 'torn',
        reason: expect.stringMatching(/torn\/caption\.onnx: sha256 is .*, the manifest says/),
      },
      'bundle is broken and not served',
    );
  });

  it.each<[string, string, unknown, RegExp]>([
    ['has another name than its folder', 'name', 'other', /\/name is other, expected bundle-tiny/],
    ['has an unknown kind', 'kinds.1', 'explode', /\/kinds has explode, expected only none, appear/],
    [
      'has an output of another shape than it states',
      'max_length',
      11,
      /caption\.onnx: output ids came as \[1,10\], expected \[1,11\]/,
    ],
  ])('fails if the default bundle %s', async (_, where, value, message) => {
    const { modelsDir } = removeLater(await copyOfTiny((manifest) => put(manifest, where, value)));
    await expect(startTiny({ modelsDir, inferenceThreads: 1 })).rejects.toThrow(message);
  });

  it('opens another bundle at its first request, and reports its faults only then', async () => {
    const modelsDir = await modelsFolder();
    const others: [string, string, unknown][] = [
      ['other', 'unchanged_sentence', 'no difference'],
      ['odd', 'max_length', 11],
    ];
    for (const [name, where, value] of others) {
      const { directory } = removeLater(
        await copyOfTiny((manifest) => {
          put(manifest, 'name', name);
          put(manifest, 'calibration.threshold', 1);
          put(manifest, where, value);
        }, name),
      );
      await cp(directory, join(modelsDir, name), { recursive: true });
    }
    const pipeline = await startTiny({ modelsDir, inferenceThreads: 1 });
    try {
      expect(pipeline.models().map(({ name }) => name)).toEqual(['bundle-tiny', 'odd', 'other']);
      const frames = { before: await image(), after: await image([RED]) };
      const { finding } = await pipeline.compare({ ...frames, model: 'other' });
      expect(finding).toMatchObject({ caption: 'No difference.', model: { name: 'other' } });
      await expect(pipeline.compare({ ...frames, model: 'odd' })).rejects.toMatchObject({
        code: 'inference-failed',
        message: expect.stringMatching(/caption\.onnx: output ids came as \[1,10\], expected \[1,11\]/),
      });
      expect((await pipeline.compare(frames)).finding.model?.name).toBe('bundle-tiny');
    } finally {
      await pipeline.close();
    }
  });

  it('opens the caption graph without a warm-up only if a pair changed, and answers the same', async () => {
    const { modelsDir } = removeLater(await copyOfTiny((manifest) => put(manifest, 'max_length', 11)));
    const [same, changed] = [await image(), await image([RED])];
    const brighter = await image([], 60);
    const broken = await startTiny({ modelsDir }, { warmUp: false });
    const cold = await startTiny({}, { warmUp: false });
    const warm = await startTiny();
    try {
      // The fault of the caption graph shows when it runs.
      expect((await broken.compare({ before: same, after: brighter })).finding.verdict).not.toBe('change');
      await expect(broken.compare({ before: same, after: changed })).rejects.toThrow(/caption\.onnx: output ids came/);
      const pair = { before: same, after: changed };
      const { finding, heatmaps } = await cold.compare(pair);
      expect(finding.verdict).toBe('change');
      expect({ finding, heatmaps }).toEqual((({ timings, ...answer }) => answer)(await warm.compare(pair)));
    } finally {
      await Promise.all([broken, cold, warm].map((pipeline) => pipeline.close()));
    }
  });

  it('fails without the default bundle, with the missing file', async () => {
    const { modelsDir } = removeLater({ modelsDir: await mkdtemp(join(tmpdir(), 'sd-models-')) });
    const starting = startTiny({ modelsDir });
    await expect(starting).rejects.toThrow(`${join(modelsDir, 'bundle-tiny', 'manifest.json')}: is missing`);
  });

  it('fails if STRICT_DEVICE cannot be met', async () => {
    const starting = startTiny({ device: 'cuda:99', strictDevice: true });
    await expect(starting).rejects.toThrow('DEVICE=cuda:99 with STRICT_DEVICE: cuda:99 is not available');
  });
});
