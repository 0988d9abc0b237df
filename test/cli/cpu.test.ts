/** Processors on which the native parts end with "Illegal instruction". */
import { cpuFault } from '../../scripts/lib/cpu.mjs';

it.each([
  ['qemu64', 'x64', 'flags\t\t: fpu sse sse2 cx16 lm\n', expect.stringContaining('lacks SSE4.2')],
  ['a present one', 'x64', 'flags\t\t: fpu sse sse2 sse4_1 sse4_2 avx\n', undefined],
  ['another architecture', 'arm64', 'Features\t: fp asimd\n', undefined],
  ['a system without /proc', 'x64', '', undefined],
])('%s', (_name, arch, cpuinfo, fault) => {
  expect(cpuFault({ arch, cpuinfo })).toEqual(fault);
});
