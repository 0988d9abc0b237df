/** The part of WebAssembly that is used. Node implements it, but its types come only with those of browsers. */
declare namespace WebAssembly {
  class Memory {
    /** @param options.initial number of pages of 64 KiB */
    constructor(options: { initial: number });
    readonly buffer: ArrayBuffer;
  }
  class Module {
    constructor(code: Uint8Array);
  }
  class Instance {
    constructor(module: Module, imports: { env: { memory: Memory } });
    readonly exports: unknown;
  }
}
