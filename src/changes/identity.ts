/** Ids that follow from what they name, so that the same frames give the same list again. Pure. */

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';
const FNV_OFFSET = 0x6c62272e07bb014262b821756295c58dn;
const FNV_PRIME = 0x0000000001000000000000000000013bn;
const BITS_128 = (1n << 128n) - 1n;

const characters = (value: bigint, count: number): string =>
  Array.from(
    { length: count },
    (_, i) => CROCKFORD[Number((value >> BigInt(5 * (count - 1 - i))) & 31n)],
  ).join('');

/**
 * 26 characters in the form of a ULID: the time, then a hash of the name where a ULID is random. FNV-1a of 128 bits, folded to 80:
 * it only has to keep apart what happens on one camera in one millisecond, and must not need more than arithmetic.
 * @param at epoch ms
 */
export function derivedId(prefix: 'chg' | 'alr', at: number, name: string): string {
  let hash = FNV_OFFSET;
  for (const byte of new TextEncoder().encode(name)) hash = ((hash ^ BigInt(byte)) * FNV_PRIME) & BITS_128;
  const folded = (hash ^ (hash >> 80n)) & ((1n << 80n) - 1n);
  return `${prefix}_${characters(BigInt(at), 10)}${characters(folded, 16)}`;
}
