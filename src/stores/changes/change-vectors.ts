/** Codec of the search vector of a change, a field of its hash: the bundle, then half-precision numbers as base64. */
import type { SearchVector } from '../../schemas/search-vector.js';

export const VECTOR_FIELD = 'vector';
const STORED = /^([0-9a-f]{64}):([A-Za-z0-9+/]+={0,2})$/;

export function encodeVector({ bundle, values }: SearchVector): string {
  const bytes = Buffer.alloc(2 * values.length);
  for (const [i, value] of values.entries()) bytes.writeUInt16LE(toHalf(value), 2 * i);
  return `${bundle}:${bytes.toString('base64')}`;
}

/** @returns undefined for null, and for a text of another format, which a later version may have written */
export function decodeVector(text: string | null): SearchVector | undefined {
  const [, bundle, base64] = STORED.exec(text ?? '') ?? [];
  if (bundle === undefined || base64 === undefined) return undefined;
  const bytes = Buffer.from(base64, 'base64');
  const values = Float32Array.from({ length: bytes.length >> 1 }, (_, i) => fromHalf(bytes.readUInt16LE(2 * i)));
  return { bundle, values };
}

const FLOAT = new Float32Array(1);
const BITS = new Uint32Array(FLOAT.buffer);

/** @param value from -1 to 1. @returns the bits of the nearest number of half precision (IEEE 754) */
function toHalf(value: number): number {
  FLOAT[0] = value;
  const bits = BITS[0] as number;
  const sign = (bits >>> 16) & 0x8000;
  const exponent = ((bits >>> 23) & 0xff) - 112;
  const mantissa = bits & 0x7fffff;
  if (exponent > 0) return sign | ((exponent << 10) + ((mantissa + 0x1000) >>> 13));
  if (exponent < -10) return sign;
  const shift = 14 - exponent;
  return sign | (((mantissa | 0x800000) + (1 << (shift - 1))) >>> shift);
}

function fromHalf(bits: number): number {
  const exponent = (bits >>> 10) & 0x1f;
  const mantissa = bits & 0x3ff;
  const size = exponent === 0 ? mantissa * 2 ** -24 : (1 + mantissa / 1024) * 2 ** (exponent - 15);
  return bits & 0x8000 ? -size : size;
}
