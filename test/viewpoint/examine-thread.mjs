/** Thread that runs the built `examine` outside of jest's sandbox, where every use of a global costs a look-up. */
import { parentPort } from 'node:worker_threads';
import { hasMoved, namedTampers } from '../../dist/viewpoint/evidence.js';
import { examine } from '../../dist/viewpoint/examine.js';

parentPort.on('message', ({ before, after }) => {
  const evidence = examine(before, after);
  parentPort.postMessage({ evidence, moved: hasMoved(evidence), tampers: namedTampers(evidence) });
});
