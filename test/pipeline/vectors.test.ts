/** Search vectors of a pipeline: of a change, of texts, and of bundles without the graphs. */
import type { Pipeline } from '../../src/pipeline/compare.js';
import { tinyWithSearch } from '../model/tiny-search.js';
import { image, RED, removeLater, startTiny } from './tiny-pipeline.js';

const cosine = (a: Float32Array | undefined, b: Float32Array | undefined) =>
  [...(a ?? [])].reduce((sum, value, i) => sum + value * (b?.[i] ?? Number.NaN), 0);

async function using(pipeline: Pipeline, work: (pipeline: Pipeline) => Promise<void>): Promise<void> {
  try {
    await work(pipeline);
  } finally {
    await pipeline.close();
  }
}

describe('search vectors', () => {
  it('are near the texts that are true of the change', async () => {
    const { modelsDir } = removeLater(await tinyWithSearch());
    await using(await startTiny({ modelsDir }), async (pipeline) => {
      const [empty, red] = await Promise.all([image(), image([RED])]);
      const appeared = await (await pipeline.compare({ before: empty, after: red })).embed?.();
      const gone = await (await pipeline.compare({ before: red, after: empty })).embed?.();
      const texts = await pipeline.embedTexts(['a red thing has appeared', 'gone'], null);
      expect(appeared).toHaveLength(4);
      const [ofAppeared, ofGone] = texts?.vectors ?? [];
      expect(texts).toMatchObject({ least: 0.5, bundle: expect.stringMatching(/^[0-9a-f]{64}$/) });
      expect(cosine(appeared, ofAppeared)).toBeGreaterThan(cosine(appeared, ofGone) + 0.5);
      expect(cosine(gone, ofGone)).toBeGreaterThan(cosine(gone, ofAppeared) + 0.5);
    });
  });

  it('are computed once for places that the same crops show', async () => {
    const { modelsDir } = removeLater(await tinyWithSearch());
    await using(await startTiny({ modelsDir }), async (pipeline) => {
      const { embed } = await pipeline.compare({ before: await image(), after: await image([RED]) });
      expect(await embed?.([])).toBe(await embed?.());
    });
  });

  it('are not there without a change', async () => {
    const { modelsDir } = removeLater(await tinyWithSearch());
    await using(await startTiny({ modelsDir }), async (pipeline) => {
      const output = await pipeline.compare({ before: await image(), after: await image([], 52) });
      expect(output.finding.verdict).not.toBe('change');
      expect(output.embed).toBeUndefined();
    });
  });

  it('are not there without the graphs', async () => {
    await using(await startTiny(), async (pipeline) => {
      const output = await pipeline.compare({ before: await image(), after: await image([RED]) });
      expect(output.finding.verdict).toBe('change');
      expect(output.embed).toBeUndefined();
      expect(await pipeline.embedTexts(['gone'], null)).toBeUndefined();
      await expect(pipeline.embedTexts(['gone'], 'other')).rejects.toMatchObject({ code: 'unknown-model' });
    });
  });
});
