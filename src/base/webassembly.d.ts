/**
 * The part of WebAssembly that is used. Node implements it, but its types come only with those of browsers.
 */
declare namespace WebAssembly {
  class Memory {
    private constructor();
    readonly buffer: ArrayBuffer;
    /** @param pages number of 64 KiB pages to add; the old buffer is detached */
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
