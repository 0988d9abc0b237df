import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { openPairDescriber } from '../../src/cli/evaluation/describe-pairs.js';
import { loadConfig } from '../../src/config.js';
import { describedFigures, withDescriptions } from '../../src/evaluation/described.js';
import type { Pair } from '../../src/evaluation/pairs.js';
import type { Prediction } from '../../src/evaluation/predictions.js';
import { evaluate } from '../../src/evaluation/report.js';
import { formatReport } from '../../src/evaluation/table.js';
import type { Finding } from '../../src/schemas/comparison.js';
import type { Description } from '../../src/schemas/description.js';
import { answerOf, type DescriberServer, says, startDescriberServer } from '../helpers/describer-server.js';
import { appeared } from './labels.js';

const described = (given: Partial<Description>): Description => ({
  status: 'accepted',
  sentence: 'A white van has appeared.',
  changes: [],
  reason: null,
  preset: 'security',
  model: 'qwen-vl',
  ms: 100,
  tokens: { prompt: 900, completion: 40 },
  at: '2026-01-05T12:00:00.000Z',
  ...given,
});
const refused = described({
  status: 'refused',
  sentence: null,
  ms: 300,
  reason: { code: 'other-noun', detail: 'a dog came' },
});
const failed = described({
  status: 'failed',
  sentence: null,
  model: null,
  tokens: null,
  reason: { code: 'no-answer', detail: 'none' },
});

describe('Figures of descriptions', () => {
  const pairs = [true, true, true, false].map((changed) => ({ changed }) as Pair);

  it('count the pairs that are asked and accepted, the reasons, the time and the tokens of answers', () => {
    expect(describedFigures(pairs, [described({}), refused, failed, null])).toMatchObject({
      unchangedAsked: { hits: 0, of: 1 },
      changedAsked: { hits: 3, of: 3 },
      accepted: { hits: 1, of: 3 },
      reasons: { 'other-noun': 1, 'no-answer': 1 },
      meanMs: 200,
      tokens: 1880,
    });
  });

  it('have no mean time without an answer', () => {
    expect(describedFigures(pairs, [null, null, null, null])).toMatchObject({ meanMs: null, accepted: { of: 0 } });
  });

  it('take the place of sentences only if they are accepted', () => {
    const predictions = [{ caption: 'a van has appeared' }, { caption: 'a car has left' }] as Prediction[];
    expect(withDescriptions(predictions, [described({}), refused]).map(({ caption }) => caption)).toEqual([
      'A white van has appeared.',
      'a car has left',
    ]);
  });

  it('are a table of the report, if they were asked for', () => {
    const said = { id: 'p', verdict: 'change', kind: 'appear', caption: 'a van has appeared', confidence: 1 };
    const run = { name: 'x', predictions: [{ ...said, regions: [], timings_ms: {} } as unknown as Prediction] };
    const text = formatReport(evaluate([appeared], run, { described: describedFigures([appeared], [refused]) }));
    expect(text).toMatch(
      /^Describer .*\n.*asked.*\n.*asked.*100\.0 % +1 of 1\n.*accepted +0\.0 % +0 of 1\n +other-noun/m,
    );
    expect(formatReport(evaluate([appeared], run))).not.toContain('Describer');
  });
});

describe('The describer of an evaluation', () => {
  let server: DescriberServer;
  let frame: Buffer;
  beforeAll(async () => {
    server = await startDescriberServer();
    frame = await sharp({ create: { width: 64, height: 64, channels: 3, background: 'grey' } })
      .png()
      .toBuffer();
  });
  beforeEach(() => {
    server.received.length = 0;
    server.answer = says(answerOf('appeared', 'van', 'A white van has appeared.'));
  });
  afterAll(() => server.close());
  const open = () =>
    openPairDescriber(loadConfig({ DESCRIBER_URL: server.url, DESCRIBER_ALLOW: '127.0.0.1' }), 'parking');
  const finding = {
    verdict: 'change',
    kind: 'appear',
    caption: 'a van has appeared',
    regions: [{ id: 1, side: 'after', box: { x: 0.1, y: 0.1, width: 0.3, height: 0.3 }, area: 0.09, score: 0.9 }],
  } as Finding;

  it('is asked about a pair that is called changed, with the preset', async () => {
    const describer = open();
    expect(await describer.describe({ before: frame, after: frame }, finding)).toMatchObject({ status: 'accepted' });
    expect(server.received[0]?.body).toContain('car park');
    await describer.close();
  });

  it.each(['none', 'nuisance', 'tamper'] as const)('is not asked about a pair with the verdict %s', async (verdict) => {
    const describer = open();
    expect(await describer.describe({ before: frame, after: frame }, { ...finding, verdict })).toBeNull();
    expect(server.received).toHaveLength(0);
    await describer.close();
  });

  it('needs its address', () => {
    expect(() => openPairDescriber(loadConfig({}), 'security')).toThrow('--describer needs DESCRIBER_URL');
  });
});
