/**
 * Peer of bench peers: the graphs of the bundle that ships on the key frames of a file, one per second, each beside the
 * one before it, without registration, memory or confirmation. Prints a JSON list: seconds of the frames that differ.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../../../scripts/lib/shell.mjs';
import { dist } from '../lib/service.mjs';

const { resizeNormalised, fullFrame } = await dist('model/preprocess.js');
const { loadBundle } = await dist('model/manifest.js');
const { openGraph } = await dist('model/session.js');
const { predictionOf } = await dist('model/calibration.js');

const { manifest, directory } = await loadBundle(join(ROOT, 'models/scorer-surveillance'));
const { width, height } = manifest.input;
const open = (name) => openGraph(join(directory, manifest.graphs[name].file), 'cpu');
const [features, difference] = [await open('features'), await open('difference')];

/** @param {Uint8Array} data RGB pixels of the network's size */
function featuresOf(data) {
  const frame = { data, width, height };
  const image = new Float32Array(3 * width * height);
  resizeNormalised(frame, fullFrame(frame), width, height, manifest.input, image);
  return features.run({ image: { dims: [1, 3, height, width], data: image } });
}

async function differ(before, after) {
  const { change_logit, kind_logits, nuisance_logits } = await difference.run({
    ...{ coarse_before: before.coarse, fine_before: before.fine },
    ...{ coarse_after: after.coarse, fine_after: after.fine },
  });
  const logits = { kindLogits: kind_logits.data, nuisanceLogits: nuisance_logits.data };
  return predictionOf({ changeLogit: change_logit.data[0], ...logits }, manifest).changed;
}

const scaled = ['-vf', `scale=${width}:${height}`, '-pix_fmt', 'rgb24', '-f', 'rawvideo', '-'];
const args = ['-v', 'error', '-nostdin', '-skip_frame', 'nokey', '-i', process.argv[2], '-fps_mode', 'passthrough'];
const { stdout } = spawn('ffmpeg', [...args, ...scaled], { stdio: ['ignore', 'pipe', 'inherit'] });
const moments = [];
let before;
let seconds = 0;
let pending = Buffer.alloc(0);
for await (const chunk of stdout) {
  pending = Buffer.concat([pending, chunk]);
  for (; pending.length >= 3 * width * height; pending = pending.subarray(3 * width * height)) {
    const after = await featuresOf(new Uint8Array(pending.subarray(0, 3 * width * height)));
    if (before !== undefined && (await differ(before, after))) moments.push(seconds);
    before = after;
    seconds += 1;
  }
}
console.log(JSON.stringify(moments));
