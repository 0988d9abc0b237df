/** The processor that the native parts (sharp, ONNX Runtime) need. Node built-ins only. */
import { readFileSync } from 'node:fs';

/**
 * A WebAssembly module of one function, `(drop (v128.const i32x4 0 0 0 0))`. V8 refuses SIMD on a processor without
 * SSE4.1, which it asks by CPUID: under user-mode emulation /proc/cpuinfo shows the flags of the host.
 */
const SIMD_MODULE = new Uint8Array([
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
  ...[0x01, 0x04, 0x01, 0x60, 0x00, 0x00, 0x03, 0x02, 0x01, 0x00],
  ...[0x0a, 0x17, 0x01, 0x15, 0x00, 0xfd, 0x0c, ...Array(16).fill(0x00), 0x1a, 0x0b],
]);

/** @returns one line about the feature that the processor lacks; undefined if it has it, or if that is not known */
export function cpuFault({ arch = process.arch, cpuinfo = readCpuinfo(), simd = hasSimd() } = {}) {
  const flags = /^flags\s*:(.*)$/m.exec(cpuinfo)?.[1].split(' ');
  if (arch !== 'x64' || (simd && (flags === undefined || flags.includes('sse4_2')))) return undefined;
  return (
    'This processor lacks SSE4.2, which decoding of pictures and the models need. In a virtual machine (Proxmox: kvm64, ' +
    'qemu64) choose the CPU type host or x86-64-v2'
  );
}

function hasSimd() {
  // Node without a just-in-time compiler has no WebAssembly, and shows no flags of the processor
  return typeof WebAssembly === 'undefined' || WebAssembly.validate(SIMD_MODULE);
}

function readCpuinfo() {
  try {
    return readFileSync('/proc/cpuinfo', 'utf8');
  } catch {
    return '';
  }
}
