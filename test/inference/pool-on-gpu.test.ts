import { jest } from '@jest/globals';
import { GPU_THREADS } from '../../src/inference/pool.js';
import type { Operation } from '../../src/inference/protocol.js';
import { eventually } from '../helpers/eventually.js';
import { bundleNamed, encode, error, frame, type Ran, start, startOnGpu } from '../helpers/inference-pools.js';

describe('InferencePool on a GPU', () => {
  it('runs the waiting tasks of one size and bundle as one batch on a GPU, up to the largest batch', async () => {
    const pool = await startOnGpu();
    const first = Promise.all(Array.from({ length: GPU_THREADS }, (_, i) => encode(pool, 'slow', frame(100 + i))));
    const wide = Array.from({ length: 6 }, () => encode(pool, 'echo', frame(32)));
    const narrow = encode(pool, 'echo', frame(16));
    const other = encode(pool, 'other', frame(32));
    const crops = [encode(pool, 'echo', frame(48, 3)), encode(pool, 'echo', frame(48, 3))];
    await first;
    const sizes = (runs: Promise<Ran>[]) => Promise.all(runs.map(async (run) => (await run).batch));
    expect(await sizes(wide)).toEqual([4, 4, 4, 4, 2, 2]);
    expect(await sizes([narrow, other])).toEqual([1, 1]);
    expect(await sizes(crops)).toEqual([1, 1]); // 3 + 3 crops are more than 4
  });

  it('runs beside a GPU, on threads of the CPU, what a GPU would not make faster', async () => {
    const pool = await startOnGpu();
    const threadsOf = async (operations: readonly Operation[]) => {
      const runs = operations.flatMap((operation) =>
        [1, 2, 3].map(() => pool.run(operation, 'echo', frame() as never)),
      );
      return new Set((await Promise.all(runs)).map((run) => (run as unknown as Ran).thread));
    };
    const onGpu = await threadsOf(['encode', 'difference', 'people']);
    const onCpu = await threadsOf([
      'caption',
      'statements',
      'name',
      'check',
      'embedPair',
      'embedTexts',
      'examine',
      'align',
    ]);
    expect(onCpu.size).toBe(1);
    expect([...onGpu].filter((thread) => onCpu.has(thread))).toEqual([]);
  });

  it('runs the words of several pairs as one batch on a GPU, if it shall run all graphs', async () => {
    const pool = await startOnGpu({ gpuGraphs: 'all' });
    const busy = Array.from({ length: GPU_THREADS }, () => pool.run('difference', 'slow', { width: 150 } as never));
    const words = (['statements', 'name', 'check'] as const).map((operation) =>
      [1, 2, 3, 4, 5].map(() => pool.run(operation, 'echo', {} as never) as unknown as Promise<Ran>),
    );
    for (const runs of words) {
      expect((await Promise.all(runs)).map(({ batch }) => batch)).toEqual([4, 4, 4, 4, 1]);
    }
    await Promise.all(busy);
    const { thread } = (await pool.run('examine', 'echo', {} as never)) as unknown as Ran;
    expect((await Promise.all(words.flat())).map((run) => run.thread)).not.toContain(thread);
  });

  it.each(['fail', 'crash'])('runs on the CPU once what a GPU failed to run, and counts it (%s)', async (how) => {
    const failed = jest.fn();
    const bundles = [bundleNamed('echo'), bundleNamed(`${how} cuda:0`)];
    const pool = await startOnGpu({ bundles, onGpuFailure: failed });
    const runs = [1, 2, 3].map(() => pool.run('difference', `${how} cuda:0`, {} as never) as unknown as Promise<Ran>);
    const threads = new Set((await Promise.all(runs)).map(({ thread }) => thread));
    const { thread } = (await pool.run('examine', 'echo', {} as never)) as unknown as Ran;
    expect([...threads]).toEqual([thread]);
    // Once both threads have crashed, the third task is given to the CPU at once.
    const failures = how === 'crash' ? GPU_THREADS : runs.length;
    expect(failed.mock.calls).toEqual(Array(failures).fill(['difference']));
    const onBoth = pool.run('difference', 'fail', {} as never);
    await expect(onBoth).rejects.toMatchObject({ code: 'inference-failed' });
    expect(failed.mock.calls.length).toBeLessThanOrEqual(failures + 1);
  });

  it('runs the tasks of a GPU on the CPU while none of its threads serves', async () => {
    const pool = await startOnGpu();
    const ended = [1, 2].map(() => pool.run('difference', 'crash cuda:0', {} as never));
    const runs = [1, 2, 3].map(() => pool.run('difference', 'echo', {} as never) as unknown as Promise<Ran>);
    await Promise.all(ended);
    const { thread } = (await pool.run('examine', 'echo', {} as never)) as unknown as Ran;
    expect((await Promise.all(runs)).map((ran) => ran.thread)).toEqual([thread, thread, thread]);
  });

  it('starts a thread anew whose GPU fails one run after the other, and runs on the CPU meanwhile', async () => {
    const bundles = [bundleNamed('echo'), bundleNamed('fail cuda:0')];
    const pool = await startOnGpu({ bundles });
    const run = async (bundle: string) => (await pool.run('difference', bundle, {} as never)) as unknown as Ran;
    const { thread: onGpu } = await run('echo');
    const { thread: onCpu } = (await pool.run('examine', 'echo', {} as never)) as unknown as Ran;
    for (let i = 0; i < 3; i++) expect((await run('fail cuda:0')).thread).toBe(onCpu);
    const reason = '3 runs in a row failed';
    await eventually(() => expect(error).toHaveBeenCalledWith(expect.objectContaining({ reason }), expect.anything()));
    await eventually(() => expect(pool.threads).toBe(GPU_THREADS + 1));
    const later = new Set<number>();
    await eventually(async () => {
      for (const { thread } of await Promise.all([1, 2, 3, 4].map(() => run('echo')))) later.add(thread);
      expect(Math.max(...later)).toBeGreaterThan(onCpu);
    });
    expect(later).not.toContain(onGpu);
  });

  it('resizes on the CPU what the GPU reads', async () => {
    const pool = await startOnGpu();
    const { input } = (await encode(pool, 'echo')) as unknown as { input: { images: Ran } };
    expect(input.images).toMatchObject({ operation: 'resize' });
    const unresized = (await (await start()).run('encode', 'echo', frame())) as unknown as { input: object };
    expect(unresized.input).not.toHaveProperty('images');
  });

  it('takes the tasks of the CPU while those of a GPU run', async () => {
    const pool = await startOnGpu();
    const slow = Promise.all(Array.from({ length: GPU_THREADS }, (_, i) => encode(pool, 'slow', frame(300 + i))));
    const waiting = encode(pool, 'echo');
    const { end } = (await pool.run('examine', 'echo', {} as never)) as unknown as Ran;
    expect(end).toBeLessThan((await waiting).start);
    await slow;
  });

  it('reports the bundles that did not open on the GPU or beside it', async () => {
    const bundles = [bundleNamed('echo'), bundleNamed('torn', 'cuda:0'), bundleNamed('worn', 'cpu')];
    expect((await start({ bundles, device: 'cuda:0' })).refused).toEqual({ torn: 'broken', worn: 'broken' });
  });

  it('serves with its first thread on a GPU, logs and retries if the second does not start', async () => {
    const pool = await start({ device: 'cuda:9', threads: 2 });
    await eventually(() => expect(error.mock.calls.length).toBeGreaterThan(1));
    expect(error).toHaveBeenCalledWith(
      { thread: 2, reason: 'inference thread ended with code 8 before it was ready' },
      'inference thread does not start',
    );
    expect(pool.threads).toBe(1 + 2);
    await expect(encode(pool, 'echo')).resolves.toMatchObject({ operation: 'encode' });
  });

  it('refuses the waiting tasks of a GPU, and gives them to no thread of the CPU', async () => {
    const failed = jest.fn();
    const pool = await startOnGpu({ onGpuFailure: failed });
    const run = (bundle: string) => pool.run('difference', bundle, { width: 200 } as never);
    const running = Array.from({ length: GPU_THREADS }, () => run('slow'));
    const waiting = run('echo');
    const refused = expect(waiting).rejects.toMatchObject({ code: 'inference-failed' });
    await pool.close();
    await refused;
    expect(await Promise.all(running)).toHaveLength(GPU_THREADS);
    expect(failed).not.toHaveBeenCalled();
  });
});
