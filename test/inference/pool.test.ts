import { bundleNamed, encode, error, frame, type Ran, start, startAll } from '../helpers/inference-pools.js';

describe('InferencePool', () => {
  it('runs tasks concurrently on its threads', async () => {
    const pool = await startAll(2);
    const [a, b] = await Promise.all([encode(pool, 'slow', frame(300)), encode(pool, 'slow', frame(300))]);
    expect(a.thread).not.toBe(b.thread);
    expect(Math.max(a.start, b.start)).toBeLessThan(Math.min(a.end, b.end));
  });

  it('runs the waiting tasks of later steps first, and the older of one step', async () => {
    const pool = await start();
    const done: string[] = [];
    const record = async (run: Promise<unknown>) => done.push((await (run as Promise<Ran>)).operation);
    const first = encode(pool, 'slow', frame(50));
    await Promise.all([
      first,
      record(pool.run('encode', 'echo', frame())),
      record(pool.run('examine', 'echo', {} as never)),
      record(pool.run('encode', 'echo', frame())),
      record(pool.run('difference', 'echo', {} as never)),
      record(pool.run('caption', 'echo', {} as never)),
    ]);
    expect(done).toEqual(['caption', 'difference', 'encode', 'examine', 'encode']);
  });

  it('runs one task at a time on a CPU', async () => {
    const pool = await start();
    const runs = await Promise.all(Array.from({ length: 5 }, () => encode(pool, 'echo')));
    expect(runs.map((run) => run.batch)).toEqual([1, 1, 1, 1, 1]);
  });

  it('reports the bundles that did not open', async () => {
    const pool = await start({ bundles: [bundleNamed('echo'), bundleNamed('torn', true)] });
    expect(pool.refused).toEqual({ torn: 'broken' });
  });
});

describe('InferencePool after a failure', () => {
  it('fails the task as transient and keeps its thread if a run fails', async () => {
    const pool = await start();
    await expect(encode(pool, 'fail')).rejects.toMatchObject({
      code: 'inference-failed',
      permanent: false,
      message: 'fail, encode: the graph is unhappy',
    });
    await expect(encode(pool, 'echo')).resolves.toBeDefined();
    expect(error).not.toHaveBeenCalled();
  });

  it.each([
    ['ends', 'crash', 'exit code 3'],
    ['throws', 'throw', 'a bug in the thread'],
  ])('replaces a thread that %s, fails its task and runs the waiting ones', async (_, bundle, reason) => {
    const pool = await start();
    const lost = encode(pool, bundle);
    const waiting = encode(pool, 'echo');
    await expect(lost).rejects.toMatchObject({
      code: 'inference-failed',
      permanent: false,
      message: `inference thread 1 ended within encode: ${reason}`,
    });
    await expect(waiting).resolves.toMatchObject({ batch: 1 });
    expect(pool.threads).toBe(1);
    expect(error).toHaveBeenCalledWith({ thread: 1, reason }, expect.stringContaining('starting another'));
  });

  it('keeps the other threads running', async () => {
    const pool = await startAll(2);
    const slow = encode(pool, 'slow', frame(200));
    await expect(encode(pool, 'crash')).rejects.toMatchObject({ code: 'inference-failed' });
    await expect(slow).resolves.toBeDefined();
  });

  it.each([
    ['cannot serve', 'cuda:7', 'cuda:7 is not available'],
    ['ends at once', 'cuda:8', 'inference thread ended with code 8 before it was ready'],
  ])('does not start if its first thread %s', async (_, device, reason) => {
    await expect(start({ device })).rejects.toThrow(reason);
  });
});

describe('InferencePool.close', () => {
  it('waits for the running task, refuses waiting and later ones', async () => {
    const pool = await start();
    const order: string[] = [];
    const running = encode(pool, 'slow', frame(200)).then(() => order.push('run'));
    const waiting = encode(pool, 'echo');
    const refused = expect(waiting).rejects.toMatchObject({ code: 'inference-failed' });
    await pool.close().then(() => order.push('closed'));
    await running;
    await refused;
    expect(order).toEqual(['run', 'closed']);
    expect(pool.threads).toBe(0);
    await expect(encode(pool, 'echo')).rejects.toMatchObject({ code: 'inference-failed' });
  });

  it('can be called twice', async () => {
    const pool = await start();
    await Promise.all([pool.close(), pool.close()]);
    await pool.close();
  });

  it('does not start the replacement of a thread that crashed just before', async () => {
    const pool = await start();
    await expect(encode(pool, 'crash')).rejects.toBeDefined();
    await pool.close();
    expect(pool.threads).toBe(0);
  });
});
