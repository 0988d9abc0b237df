/** Inference thread whose every task fails after three seconds: longer than the time limit of a test. */
import { parentPort } from 'node:worker_threads';

const HANG_MS = 3_000;
parentPort.on('message', ({ type }) => {
  if (type === 'close') return parentPort.close();
  if (type === 'open') return;
  setTimeout(() => parentPort.postMessage({ type: 'failed', reason: 'it had hung' }), HANG_MS);
});
parentPort.postMessage({ type: 'ready', provider: 'cpu', fallback: null, refused: {} });
