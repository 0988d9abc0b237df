interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}
export declare function agreementOf(
  people: readonly { readonly path: readonly (readonly [second: number, x: number, y: number])[] }[],
  visits: readonly { readonly path: readonly { readonly at: string; readonly box: Box }[] }[],
  start: number,
): { readonly found: number; readonly idf1: number };
