/** WebAssembly that is committed as base64, so that a build needs no tools for it (`npm run webassembly`). */

const PAGE = 65_536;

const decodeBase64 = (text: string) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

/** @returns the exports of the code: one instance per thread, whose calls share its memory one after the other */
export function instanceOf<T extends { readonly memory: WebAssembly.Memory }>(code: string): () => T {
  let instance: T | undefined;
  return () => {
    instance ??= new WebAssembly.Instance(new WebAssembly.Module(decodeBase64(code))).exports as unknown as T;
    return instance;
  };
}

/** Grows the memory to at least this size; it never shrinks, because the next frame is likely as large. */
export function reserve(memory: WebAssembly.Memory, bytes: number): void {
  const missing = bytes - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
}
