/** JPEGs as cameras send them: with bytes before the start, without the end, and with rows missing. */
import { describe, expect, it } from '@jest/globals';
import { sniffImage } from '../../src/base/image-type.js';
import { completeJpeg } from '../../src/frames/complete-jpeg.js';
import { decodeFrame, decodeReduced, decodeToFit, withFullSize } from '../../src/frames/decode.js';
import { frameSize } from '../../src/frames/header.js';
import { noisy } from './pictures.js';

const options = { field: 'after', pixelLimit: 50_000_000 };
const CRLF = Buffer.from('\r\n');
const END = Buffer.from([0xff, 0xd9]);
const COMMENT = 0xfe;
const MAKER = 0xed;
const behindStart = (jpeg: Buffer, bytes: Buffer) => Buffer.concat([jpeg.subarray(0, 2), bytes, jpeg.subarray(2)]);
const betweenSegments = (jpeg: Buffer, bytes: Buffer) => {
  const first = 4 + jpeg.readUInt16BE(4);
  return Buffer.concat([jpeg.subarray(0, first), bytes, jpeg.subarray(first)]);
};
/** @param stated length in the header of the segment, which has 60 bytes of text */
const withSegment = (jpeg: Buffer, marker: number, stated: number) =>
  behindStart(jpeg, Buffer.concat([Buffer.from([0xff, marker, 0, stated]), Buffer.alloc(60, 'text ')]));

describe.each([
  ['baseline', {}],
  ['progressive', { progressive: true }],
])('a %s JPEG', (name, jpegOptions) => {
  const complete = noisy(1600, 640).jpeg(jpegOptions).toBuffer();

  it.each<[string, (jpeg: Buffer) => Buffer]>([
    ['with a byte order mark before it', (jpeg) => Buffer.concat([Buffer.from('\ufeff'), jpeg])],
    ['with a line break before it', (jpeg) => Buffer.concat([CRLF, jpeg])],
    ['without its end marker', (jpeg) => jpeg.subarray(0, -2)],
    ['with half of its end marker', (jpeg) => jpeg.subarray(0, -1)],
    ['with both', (jpeg) => Buffer.concat([CRLF, jpeg.subarray(0, -2)])],
    ['with bytes behind its end', (jpeg) => Buffer.concat([jpeg, Buffer.alloc(9000)])],
    ['with a comment that is longer than it states', (jpeg) => withSegment(jpeg, COMMENT, 40)],
    ['with a comment that states no text', (jpeg) => withSegment(jpeg, COMMENT, 2)],
    ['with a segment of a maker that is longer than it states', (jpeg) => withSegment(jpeg, MAKER, 10)],
    ['with fill bytes before its segments', (jpeg) => behindStart(jpeg, Buffer.alloc(7, 0xff))],
    ['with zeros between its segments', (jpeg) => betweenSegments(jpeg, Buffer.alloc(64))],
    ['with text between its segments', (jpeg) => betweenSegments(jpeg, Buffer.from('\r\nSnapshot\r\n'))],
  ])('%s has the pixels of the whole one', async (_case, altered) => {
    const jpeg = await complete;
    const sent = altered(jpeg);
    expect(sniffImage(sent, 'after')).toBe('image/jpeg');
    expect(await frameSize(sent, options)).toEqual({ width: 1600, height: 640 });
    const [full, all, half, fitted] = await Promise.all(
      [sent, jpeg].map(async (bytes) => [
        (await decodeFrame(bytes, options)).data,
        await withFullSize(bytes, options, async ({ data }) => Buffer.from(data)),
        (await decodeReduced(bytes, () => 4, options)).data,
        (await decodeToFit(bytes, 300, options)).data,
      ]),
    ).then(([a = [], b = []]) => a.map((data, i) => Buffer.compare(Buffer.from(data), Buffer.from(b[i] ?? []))));
    expect([full, all, half, fitted]).toEqual([0, 0, 0, 0]);
  });

  it.each([0.3, 0.6, 0.9])(
    'cut after %d of its bytes is not taken for complete, with an end marker, zeros or neither',
    async (share) => {
      const cut = (await complete).subarray(0, Math.floor((await complete).length * share));
      const zeros = Buffer.alloc((await complete).length - cut.length);
      for (const bytes of [cut, Buffer.concat([cut, END]), Buffer.concat([cut, zeros])]) {
        const decoded = decodeFrame(bytes, options);
        if (name === 'progressive') {
          await expect(decoded).rejects.toMatchObject({
            code: 'image-unreadable',
            message: expect.stringContaining('scans of a progressive JPEG are missing'),
          });
        } else {
          const { lost, height } = await decoded;
          expect(lost).toMatchObject({ x: 0, width: 800 });
          expect((lost?.height ?? 0) / height).toBeCloseTo(1 - share, 1);
        }
      }
    },
  );
});

it('other bytes are left alone, and more than some bytes before the start are another format', () => {
  const text = Buffer.from('no picture');
  expect(completeJpeg(text)).toBe(text);
  const far = Buffer.concat([Buffer.alloc(100), Buffer.from([0xff, 0xd8, 0xff, 0xe0])]);
  expect(completeJpeg(far)).toBe(far);
  const tiff = Buffer.concat([Buffer.from('II*\0'), Buffer.from([0xff, 0xd8, 0xff, 0xe0])]);
  expect([completeJpeg(tiff), sniffImage(tiff, 'after')]).toEqual([tiff, 'image/tiff']);
});
