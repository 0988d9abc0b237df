export class DiskGuard {
  constructor(options: {
    dataDir: string;
    socket: string;
    report: (state: string) => void;
    statfs?: typeof import('node:fs').statfsSync;
  });
  redisArguments(): string[];
  start(): Promise<void>;
  stop(): void;
}
