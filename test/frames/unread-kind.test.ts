/** Pictures that are whole, of a kind that no decoder here reads. */
import sharp from 'sharp';
import { decodeFrame } from '../../src/frames/decode.js';

it('a JPEG of 12 bits per channel is named as such, not as damaged', async () => {
  const plain = { create: { width: 64, height: 64, channels: 3, background: '#646464' } } as const;
  const jpeg = await sharp(plain).jpeg().toBuffer();
  const frameHeader = jpeg.indexOf(Buffer.from('ffc0', 'hex'));
  jpeg[frameHeader + 4] = 12;
  const decoding = decodeFrame(jpeg, { field: 'after', pixelLimit: 1_000_000 });
  await expect(decoding).rejects.toThrow(
    /^after: the image is of a kind that is not read \(.*12.*\), expected e\.g\. a JPEG of 8/,
  );
});
