/** The processor that the native parts (sharp, ONNX Runtime) need. Node built-ins only. */
import { readFileSync } from 'node:fs';

/** @returns one line about the feature that the processor lacks; undefined if it has it, or if that is not known */
export function cpuFault({ arch = process.arch, cpuinfo = readCpuinfo() } = {}) {
  const flags = /^flags\s*:(.*)$/m.exec(cpuinfo)?.[1].split(' ');
  if (arch !== 'x64' || flags === undefined || flags.includes('sse4_2')) return undefined;
  return (
    'This processor lacks SSE4.2, which decoding of pictures and the models need. In a virtual machine (Proxmox: kvm64, ' +
    'qemu64) choose the CPU type host or x86-64-v2'
  );
}

function readCpuinfo() {
  try {
    return readFileSync('/proc/cpuinfo', 'utf8');
  } catch {
    return '';
  }
}
