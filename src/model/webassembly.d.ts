/** What resample.ts uses of WebAssembly, which Node has and whose types come only with those of browsers. */
declare namespace WebAssembly {
  class Memory {
    private constructor();
    readonly buffer: ArrayBuffer;
    /** @param pages of 64 KiB; the old buffer is detached */
    grow(pages: number): number;
  }
  class Module {
    constructor(code: Uint8Array);
  }
  class Instance {
    constructor(module: Module);
    readonly exports: unknown;
  }
}
