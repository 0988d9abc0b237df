export function cpuFault(of?: { arch?: string; cpuinfo?: string; simd?: boolean }): string | undefined;
