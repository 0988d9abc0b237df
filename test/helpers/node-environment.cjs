/**
 * onnxruntime-node checks tensors with `instanceof` against the outer realm's typed arrays, while jest gives every test
 * file a realm of its own. Handing over the outer realm's constructors makes both the same.
 */
const { TestEnvironment } = require('jest-environment-node');

// The environment of the process, of which a test file has a copy: threads that tests start read it.
process.env.ORT_DISABLE_TELEMETRY = '1';

const SHARED = [
  'ArrayBuffer',
  'SharedArrayBuffer',
  'Uint8Array',
  'Int8Array',
  'Uint8ClampedArray',
  'Uint16Array',
  'Int16Array',
  'Uint32Array',
  'Int32Array',
  'Float32Array',
  'Float64Array',
  'BigInt64Array',
  'BigUint64Array',
  'DataView',
];

module.exports = class NodeEnvironment extends TestEnvironment {
  async setup() {
    await super.setup();
    for (const name of SHARED) this.global[name] = globalThis[name];
  }
};
