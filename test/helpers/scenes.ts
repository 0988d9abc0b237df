/** Synthetic pictures of one small scene, with and without an object that the small bundle of test/fixtures finds. */
import sharp from 'sharp';

export interface SceneOptions {
  /** a light red box on the right */
  readonly object?: boolean;
  /** gives other bytes of the same scene */
  readonly seed?: number;
  readonly width?: number;
  readonly height?: number;
}

/** A grey gradient with texture, 8-bit RGB. Another seed gives other bytes of the same scene. */
export function scene({ object = false, seed = 0, width = 384, height = 256 }: SceneOptions = {}) {
  const data = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const inside = object && x > width * 0.75 && x < width * 0.9 && y > height * 0.4 && y < height * 0.7;
      const texture = (x * 7 + y * 13 + seed) % 11;
      const level = 70 + Math.round((60 * y) / height) + texture;
      const at = (y * width + x) * 3;
      data[at] = inside ? 255 : level;
      data[at + 1] = inside ? 150 : level;
      data[at + 2] = inside ? 150 : level;
    }
  }
  return sharp(data, { raw: { width, height, channels: 3 } });
}

export const sceneJpeg = (options: SceneOptions = {}): Promise<Buffer> =>
  scene(options).jpeg({ quality: 90 }).toBuffer();

/** Two JPEGs: the scene without and with the object. */
export const changedPair = async (options: SceneOptions = {}): Promise<{ before: Buffer; after: Buffer }> => ({
  before: await sceneJpeg(options),
  after: await sceneJpeg({ ...options, object: true }),
});
