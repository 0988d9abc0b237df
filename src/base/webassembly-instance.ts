/** WebAssembly that is committed as base64, so that a build needs no tools for it (`npm run webassembly`). */

const PAGE = 65_536;

const decodeBase64 = (text: string) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

/**
 * @param code that imports and exports its memory
 * @returns a function that gives the exports, with at least so many bytes of memory: one instance per thread, whose
 *   calls share the memory one after the other
 */
export function instanceOf<T extends { readonly memory: WebAssembly.Memory }>(code: string): (bytes: number) => T {
  const compiled = () => new WebAssembly.Module(decodeBase64(code));
  let module: WebAssembly.Module | undefined;
  let instance: T | undefined;
  return (bytes) => {
    if (instance !== undefined && instance.memory.buffer.byteLength >= bytes) return instance;
    // A memory that grows detaches its buffer. V8 then checks at each access to any typed array of the thread that it
    // is not detached, which costs other loops over pixels up to a third.
    const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / PAGE) });
    module ??= compiled();
    instance = new WebAssembly.Instance(module, { env: { memory } }).exports as T;
    return instance;
  };
}

/** Not `set`, which copies from shared memory byte by byte if both addresses are not aligned alike. */
export function copyBytes(from: Uint8Array, { buffer }: WebAssembly.Memory, at: number): void {
  Buffer.from(buffer, at, from.length).fill(from);
}
