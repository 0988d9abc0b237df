/** Fields of an ONNX file, as views of its bytes. Its layout is that of onnx.proto (Protocol Buffers). */

/** Types of a field on the wire. */
export const [VARINT, BYTES] = [0, 2];

/** A field that holds bytes. */
interface Field {
  readonly number: number;
  readonly bytes: Uint8Array;
  /** number and type, as they stand before the bytes; one byte for numbers below 16 */
  readonly tag: Uint8Array;
}

/**
 * @param path numbers of the fields from the message inwards
 * @throws RangeError if the bytes are no Protocol Buffers
 */
export function* fieldsAt(message: Uint8Array, [first, ...rest]: readonly number[]): Generator<Field> {
  for (const field of fieldsOf(message)) {
    if (field.number !== first) continue;
    if (rest.length === 0) yield field;
    else yield* fieldsAt(field.bytes, rest);
  }
}

/** Fields of a message that hold bytes; numbers are skipped. @throws RangeError as `fieldsAt` */
export function* fieldsOf(message: Uint8Array): Generator<Field> {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = message[at++];
      if (byte === undefined) throw new RangeError('ends within a number, expected Protocol Buffers');
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const start = at;
    const value = varint();
    const tag = message.subarray(start, at);
    const [number, type] = [Math.floor(value / 8), value % 8];
    if (type === VARINT) varint();
    else if (type === BYTES) {
      const length = varint();
      yield { number, bytes: message.subarray(at, at + length), tag };
      at += length;
    } else if (type === 1 || type === 5) at += type === 1 ? 8 : 4;
    else throw new RangeError(`has a field of type ${type}, expected Protocol Buffers`);
  }
}
