/** The queue of descriptions on real workers: two at a time, counted, and apart from the deliveries of alerts. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { derivedId } from '../../src/ids.js';
import type { QueueWorkers } from '../../src/jobs/run-jobs.js';
import type { Description } from '../../src/schemas/description.js';
import { createWorkerMetrics } from '../../src/workers/metrics.js';
import { startDescriptionWorker } from '../../src/workers/queue-workers.js';
import { eventually } from '../helpers/eventually.js';
import { useQueues } from '../helpers/queues.js';
import { logger } from '../helpers/workers.js';

const queues = useQueues();
const running: QueueWorkers[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.close();
});

const idOf = (name: string) => derivedId('chg', 1_000, name);
const described: Description = {
  status: 'refused',
  sentence: null,
  changes: [],
  reason: { code: 'other-noun', detail: 'a dog came' },
  preset: 'security',
  model: 'qwen-vl',
  ms: 1_500,
  tokens: { prompt: 900, completion: 40 },
  at: '2026-01-05T12:00:00.000Z',
};

function serve(process: (payload: unknown) => Promise<Description | undefined>) {
  const metrics = createWorkerMetrics();
  const common = {
    redis: queues.bench.redis,
    config: { jobLockMs: 5_000 },
    logger,
    metrics,
    guard: queues.bench.guard,
  };
  running.push(startDescriptionWorker({ ...common, processor: { process } }));
  return metrics;
}
const add = (name: string) => queues.producer.addDescription({ changeId: idOf(name), traceId: '1'.repeat(32) });

describe('The queue of descriptions', () => {
  it('counts outcomes, times and tokens', async () => {
    const metrics = serve(async () => described);
    await add('one');
    await eventually(async () => {
      const text = await metrics.registry.metrics();
      expect(text).toContain('scenedelta_descriptions_total{outcome="other-noun"} 1');
      expect(text).toContain('scenedelta_description_duration_seconds_sum 1.5');
      expect(text).toContain('scenedelta_describer_tokens_total{part="prompt"} 900');
    });
  });

  it('runs two at a time, and holds no delivery up', async () => {
    const begun: string[] = [];
    const held: (() => void)[] = [];
    serve(async (payload) => {
      begun.push((payload as { changeId: string }).changeId);
      await new Promise<void>((done) => held.push(done));
      return undefined;
    });
    for (const name of ['one', 'two', 'three']) await add(name);
    await eventually(() => expect(begun).toHaveLength(2));
    queues.deliver();
    const deliveryId = derivedId('dlv', 1_000, 'none');
    await queues.producer.addDelivery({ deliveryId, traceId: '1'.repeat(32) });
    await eventually(async () => expect(await queues.producer.states('delivery', [deliveryId])).toEqual(['completed']));
    expect(begun).toHaveLength(2);
    for (const release of held.splice(0)) release();
    await eventually(() => expect(begun).toHaveLength(3));
    for (const release of held.splice(0)) release();
  });
});
