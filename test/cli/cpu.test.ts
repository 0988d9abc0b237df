/** Processors on which the native parts end with "Illegal instruction". */
import { cpuFault } from '../../scripts/lib/cpu.mjs';

it.each([
  ['qemu64', 'x64', 'flags\t\t: fpu sse sse2 cx16 lm\n', false, expect.stringContaining('lacks SSE4.2')],
  ['Penryn', 'x64', 'flags\t\t: fpu sse sse2 sse4_1\n', true, expect.stringContaining('lacks SSE4.2')],
  ['qemu64 by user-mode emulation', 'x64', 'flags\t\t: fpu sse4_1 sse4_2\n', false, expect.stringContaining('lacks')],
  ['a present one', 'x64', 'flags\t\t: fpu sse sse2 sse4_1 sse4_2 avx\n', true, undefined],
  ['another architecture', 'arm64', 'Features\t: fp asimd\n', true, undefined],
  ['a system without /proc', 'x64', '', true, undefined],
])('%s', (_name, arch, cpuinfo, simd, fault) => {
  expect(cpuFault({ arch, cpuinfo, simd })).toEqual(fault);
});

it('finds SIMD on a processor that runs the tests', () => {
  expect(cpuFault()).toBeUndefined();
});
