export function cpuFault(of?: { arch?: string; cpuinfo?: string }): string | undefined;
