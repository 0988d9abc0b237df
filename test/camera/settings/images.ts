/** Grey images whose level depends on the position. */
export const greyImage = (level: (x: number, y: number) => number, width = 40, height = 30) => {
  const data = new Uint8Array(width * height * 3);
  for (let i = 0; i < width * height; i++) data.fill(level(i % width, Math.floor(i / width)), i * 3, i * 3 + 3);
  return { width, height, data };
};
