/**
 * Inference thread without a model, for tests of the pool: it implements src/inference/protocol.ts. The bundle of a
 * task names its behaviour: 'echo', 'slow' (waits for its width in ms), 'fail', 'crash' (the thread ends), 'throw'; the
 * behaviour 'fail cuda:0' is that of one device. An output holds the thread, the size of the batch and the time of the
 * run. A bundle may be broken on one device alone.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, threadId } from 'node:worker_threads';

const [{ options }] = await once(parentPort, 'message');
const { device, strictDevice, bundles } = options;
if (device === 'cuda:7') {
  parentPort.postMessage({ type: 'unfit', reason: 'cuda:7 is not available' });
} else if (device === 'cuda:8' || (device === 'cuda:9' && strictDevice)) {
  process.exit(8);
} else {
  const provider = device === 'auto' ? 'cpu' : device;
  const refused = Object.fromEntries(
    bundles.filter(({ broken }) => broken === true || broken === device).map((b) => [b.manifest.name, 'broken']),
  );
  parentPort.on('message', async ({ type, bundle: named, operation, inputs }) => {
    if (type === 'close') return parentPort.close();
    const [behaviour, of = provider] = named.split(' ');
    const bundle = of === provider ? behaviour : 'echo';
    const start = Date.now();
    if (bundle === 'slow' && operation !== 'resize') await sleep(inputs[0].width);
    if (bundle === 'crash') process.exit(3);
    if (bundle === 'throw') throw new Error('a bug in the thread');
    if (bundle === 'fail') return parentPort.postMessage({ type: 'failed', reason: 'the graph is unhappy' });
    const ran = { operation, thread: threadId, batch: inputs.length, start, end: Date.now() };
    parentPort.postMessage({ type: 'done', outputs: inputs.map((input) => ({ ...ran, input })) });
  });
  parentPort.postMessage({ type: 'ready', provider, fallback: null, refused });
}
