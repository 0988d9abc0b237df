import { ScenedeltaError } from '../../src/base/errors.js';
import { image, RED, startTiny } from './tiny-pipeline.js';

const HANGING = new URL('../helpers/hanging-inference-thread.mjs', import.meta.url);

it('a comparison ends with COMPARISON_TIMEOUT while a thread still hangs', async () => {
  const pipeline = await startTiny({ comparisonTimeout: 0.2 }, { threadScript: HANGING });
  try {
    const error = await pipeline.compare({ before: await image(), after: await image([RED]) }).catch((e) => e);
    expect(error).toBeInstanceOf(ScenedeltaError);
    expect(error).toMatchObject({ code: 'processing-timeout', permanent: true });
    expect(error.message).toContain('0.2 s');
    expect(error.message).toContain('COMPARISON_TIMEOUT');
  } finally {
    await pipeline.close();
  }
});
