/** Bare process of bench start: opens the graphs whose files are its arguments, and ends. */
import * as ort from 'onnxruntime-node';

for (const file of process.argv.slice(2)) {
  const session = await ort.InferenceSession.create(file, { intraOpNumThreads: 1, interOpNumThreads: 1 });
  await session.release();
}
