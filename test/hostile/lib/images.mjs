/** Generator of hostile images from a seed: the same seed gives the same images, in the same order. */
import sharp from 'sharp';
import { dist } from '../../bench/lib/service.mjs';
import { BOMBS } from './bombs.mjs';
import { pngChunk, solidPng } from './encoders.mjs';

/** @typedef {{ name: string, bytes: Buffer, type: string }} HostileImage type: the content type that is claimed */

/** Content types that a client may claim, right or wrong. */
const TYPES = ['image/jpeg', 'image/png', 'image/svg+xml', 'text/html', 'application/octet-stream', 'video/mp4'];

/** Valid images of odd kinds, small, which the other families damage. */
async function validImages() {
  const [width, height] = [96, 64];
  const noise = Buffer.from(Array.from({ length: width * height * 3 }, (_, i) => (i * 7919 + (i >> 5)) % 251));
  const image = () => sharp(noise, { raw: { width, height, channels: 3 } });
  const alpha = () => image().ensureAlpha(0.4);
  const twice = { raw: { width, height: 2 * height, channels: 3, pageHeight: height } };
  const animation = () => sharp(Buffer.concat([noise, Buffer.alloc(noise.length, 90)]), twice);
  const exif = { IFD0: { Copyright: 'x'.repeat(2000), ImageDescription: '<script>alert(1)</script>' } };
  const encoders = {
    jpeg: () => image().jpeg(),
    'jpeg progressive': () => image().jpeg({ progressive: true }),
    'jpeg grey': () => image().toColourspace('b-w').jpeg(),
    'jpeg CMYK': () => image().toColourspace('cmyk').jpeg(),
    'jpeg with EXIF': () => image().withExif(exif).withMetadata({ orientation: 7 }).jpeg(),
    'jpeg with a profile': () => image().withIccProfile('p3').jpeg(),
    png: () => image().png(),
    'png of 16 bit': () => image().toColourspace('rgb16').png(),
    'png with a palette': () => image().png({ palette: true, colours: 4 }),
    'png interlaced, with alpha': () => alpha().png({ progressive: true }),
    'png grey of 16 bit': () => image().toColourspace('grey16').png(),
    webp: () => image().webp(),
    'webp lossless, with alpha': () => alpha().webp({ lossless: true }),
    'webp animated': () => animation().webp(),
    avif: () => image().avif({ effort: 0 }),
    'avif of 12 bit': () => image().avif({ effort: 0, bitdepth: 12 }),
    gif: () => image().gif(),
    'gif animated': () => animation().gif(),
    'tiff lzw': () => image().tiff({ compression: 'lzw' }),
    'tiff jpeg': () => image().tiff({ compression: 'jpeg' }),
    'tiff of 1 bit': () => image().toColourspace('b-w').tiff({ bitdepth: 1, compression: 'none' }),
    'tiff of floats': () => image().toColourspace('scrgb').tiff(),
    'tiff LAB': () => image().toColourspace('lab').tiff(),
    'tiff CMYK': () => image().toColourspace('cmyk').tiff(),
  };
  const images = [];
  for (const [name, encode] of Object.entries(encoders)) {
    // An encoder that this build of the library lacks is left out.
    const bytes = await encode()
      .toBuffer()
      .catch(() => undefined);
    if (bytes !== undefined) images.push({ name, bytes });
  }
  return images;
}

/** Other content than images, as a person or a program may send it by mistake or on purpose. */
const OTHERS = {
  'an SVG that reads a file':
    '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><image href="file:///etc/passwd"/></svg>',
  'an SVG of a billion laughs':
    '<!DOCTYPE s [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]><svg>&c;</svg>',
  'an HTML page': '<!doctype html><title>Login</title><p>Session expired',
  'a PDF': '%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF',
  'a script for ImageMagick': 'push graphic-context\nimage over 0,0 0,0 "https://example.org/x.png|id"\n',
  JSON: '{"before":"after"}',
  'a ZIP file': Buffer.from('504b0304140000000800', 'hex'),
  'an executable': Buffer.from('7f454c4602010100', 'hex'),
  'a BMP': Buffer.from('424d460000000000000036000000280000000200000002000000010018000000', 'hex'),
  'a HEIC': Buffer.from('000000186674797068656963000000006d69663168656963', 'hex'),
  'a JPEG XL': Buffer.from('0000000c4a584c200d0a870a', 'hex'),
  'a JPEG 2000': Buffer.from('0000000c6a5020200d0a870a', 'hex'),
  'an OpenEXR': Buffer.from('762f310102000000', 'hex'),
  'a Matlab file': 'MATLAB 5.0 MAT-file, Platform: GLNXA64',
  'a VIPS file': Buffer.from('08f2a6b6', 'hex'),
  'a Radiance picture': '#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 2 +X 2\n',
  'a MP4': Buffer.from('00000020667479706d703432', 'hex'),
};

const SIGNATURES = [
  'ffd8ffe0',
  '89504e470d0a1a0a',
  '474946383961',
  '49492a0008000000',
  '4d4d002a00000008',
  '0000001c66747970617669660000000061766966',
  '52494646ffffffff57454250',
].map((hex) => Buffer.from(hex, 'hex'));

/**
 * The families, by name. Each makes the name and the bytes of one image.
 * @typedef {{ name: string, bytes: Buffer }} ValidImage
 * @typedef {[name: string, bytes: Buffer]} NamedBytes
 * @type {Record<string, (random: Randomness, valid: ValidImage[]) => NamedBytes | Promise<NamedBytes>>}
 */
const FAMILIES = {
  valid: ({ pick }, valid) => {
    const { name, bytes } = pick(valid);
    return [name, bytes];
  },
  truncated: ({ pick, below }, valid) => {
    const { name, bytes } = pick(valid);
    return [name, bytes.subarray(0, below(bytes.length))];
  },
  corrupted: ({ pick, below }, valid) => {
    const { name, bytes } = pick(valid);
    return [name, damaged(bytes, 1 + below(40), () => below(bytes.length), below)];
  },
  'corrupted header': ({ pick, below }, valid) => {
    const { name, bytes } = pick(valid);
    return [name, damaged(bytes, 1 + below(8), () => 4 + below(Math.min(120, bytes.length - 4)), below)];
  },
  'another header': ({ pick, below }, valid) => {
    const { name, bytes } = pick(valid);
    return [name, Buffer.concat([pick(SIGNATURES), bytes.subarray(below(16))])];
  },
  'huge size': ({ pick, below }, valid) => {
    const { name, bytes } = pick(valid);
    return [name, claiming(bytes, pick([7000, 30_000, 65_535, 2 ** 24]) - below(3), pick([16, 7000, 65_535]))];
  },
  bomb: async ({ pick }) => {
    const [name, make] = pick(Object.entries(BOMBS));
    return [name, await make()];
  },
  'solid of any size': ({ pick, below }) => {
    const [width, height] = [1 + below(9000), 1 + below(9000)];
    const options = { depth: pick([8, 16]), colourType: pick([0, 2, 4, 6]), interlaced: below(3) === 0 };
    return [`png ${width}x${height} ${JSON.stringify(options)}`, solidPng(width, height, options)];
  },
  'two contents': ({ pick }, valid) => {
    const { name, bytes } = pick(valid);
    const [other, text] = pick(Object.entries(OTHERS));
    const both = pick([true, false]) ? [bytes, Buffer.from(text)] : [Buffer.from(text), bytes];
    return [`${name} and ${other}`, Buffer.concat(both)];
  },
  metadata: ({ pick, below, noise }, valid) => {
    const { name, bytes } = pick(valid);
    const garbage = noise(1 + below(60_000));
    if (name.startsWith('jpeg')) {
      const marker = pick([0xe0, 0xe1, 0xe2, 0xed, 0xee, 0xfe]);
      const head = pick(['Exif\0\0II*\0\x08\0\0\0', 'ICC_PROFILE\0\x01\x01', 'Photoshop 3.0\0', '']);
      const body = Buffer.concat([Buffer.from(head, 'latin1'), garbage]);
      const segment = Buffer.from([0xff, marker, (body.length + 2) >> 8, (body.length + 2) & 255]);
      return [`${name}, marker ${marker}`, Buffer.concat([bytes.subarray(0, 2), segment, body, bytes.subarray(2)])];
    }
    if (name.startsWith('png')) {
      const type = pick(['eXIf', 'iCCP', 'zTXt', 'iTXt', 'tRNS', 'PLTE', 'sBIT', 'gAMA', 'acTL', 'pHYs']);
      return [`${name}, ${type}`, Buffer.concat([bytes.subarray(0, 33), pngChunk(type, garbage), bytes.subarray(33)])];
    }
    return [name, Buffer.concat([bytes, garbage])];
  },
  'few bytes': ({ pick, below, noise }) => {
    const bytes = pick([noise(below(24)), pick(SIGNATURES), Buffer.concat([pick(SIGNATURES), noise(below(400))])]);
    return [`${bytes.length} bytes`, bytes];
  },
  'other content': ({ pick, below, noise }) => {
    const [name, text] = pick(Object.entries(OTHERS));
    return [name, Buffer.concat([Buffer.from(text), noise(below(200))])];
  },
};

/** @returns a copy with `times` bytes changed at the positions that `at` gives */
function damaged(bytes, times, at, below) {
  const copy = Buffer.from(bytes);
  for (let i = 0; i < times && copy.length > 0; i++) copy[at()] = below(256);
  return copy;
}

/** @returns a copy that claims another size, wherever the format states it */
function claiming(bytes, width, height) {
  const copy = Buffer.from(bytes);
  const type = copy.subarray(0, 4).toString('latin1');
  if (type.startsWith('\xff\xd8')) {
    const at = Math.max(copy.indexOf(Buffer.from([0xff, 0xc0])), copy.indexOf(Buffer.from([0xff, 0xc2])));
    if (at > 0) {
      copy.writeUInt16BE(Math.min(height, 65_535), at + 5);
      copy.writeUInt16BE(Math.min(width, 65_535), at + 7);
    }
  } else if (type === '\x89PNG') {
    const header = Buffer.from(copy.subarray(16, 29));
    header.writeUInt32BE(width, 0);
    header.writeUInt32BE(height, 4);
    pngChunk('IHDR', header).copy(copy, 8);
  } else if (type === 'GIF8') {
    copy.writeUInt16LE(Math.min(width, 65_535), 6);
    copy.writeUInt16LE(Math.min(height, 65_535), 8);
  } else if (type === 'RIFF' && copy.toString('latin1', 12, 16) === 'VP8X') {
    copy.writeUIntLE(Math.min(width, 2 ** 24) - 1, 24, 3);
    copy.writeUIntLE(Math.min(height, 2 ** 24) - 1, 27, 3);
  } else if (type === 'RIFF') {
    copy.writeUInt16LE(width & 0x3fff, Math.min(26, copy.length - 4));
    copy.writeUInt16LE(height & 0x3fff, Math.min(28, copy.length - 2));
  } else {
    const at = copy.indexOf('ispe');
    if (at > 0) {
      copy.writeUInt32BE(width, at + 8);
      copy.writeUInt32BE(height, at + 12);
    } else if (copy.length > 60) {
      // A TIFF: the first two entries of its first directory are usually width and height.
      const directory = copy.readUInt32LE(4) % (copy.length - 40);
      copy.writeUInt32LE(width, directory + 10);
      copy.writeUInt32LE(height, directory + 22);
    }
  }
  return copy;
}

/**
 * @typedef {object} Randomness
 * @property {(n: number) => number} below an integer of 0 to n - 1
 * @property {<T>(items: T[]) => T} pick
 * @property {(length: number) => Buffer} noise
 */

/** @param {() => number} next uniform in [0, 1). @returns {Randomness} */
function randomness(next) {
  const below = (n) => Math.floor(next() * n);
  return {
    below,
    pick: (items) => items[below(items.length)],
    noise: (length) => Buffer.from(Array.from({ length }, () => below(256))),
  };
}

/**
 * @param {number} seed
 * @returns {AsyncGenerator<HostileImage>} the families in turn
 */
export async function* hostileImages(seed, count) {
  // Imported here, because the service that is started before builds it.
  const { uniformNumbers } = await dist('base/random.js');
  const random = randomness(uniformNumbers(seed));
  const valid = await validImages();
  const families = Object.entries(FAMILIES);
  for (let i = 0; i < count; i++) {
    const [family, make] = families[i % families.length];
    const [name, bytes] = await make(random, valid);
    yield { name: `${i}: ${family}, ${name}`, bytes, type: random.pick(TYPES) };
  }
}
