/** Grey as RGB. */

/** Copies one channel to three. An image never has more channels than three here, because its alpha is flattened. */
export function repeatGrey(data: Uint8Array, channels: number, rgb: Uint8Array): void {
  for (let from = 0, to = 0; to < rgb.length; from += channels, to += 3) {
    const level = data[from] as number;
    rgb[to] = level;
    rgb[to + 1] = level;
    rgb[to + 2] = level;
  }
}
