/** Reader of a byte stream by lines and by counts, with a limit of all its bytes. */

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const FIRST_CAPACITY = 64 * 1024;

/** Bytes that are added one piece at a time. Many small pieces cost no more memory than few large ones. */
export class Collected {
  #bytes = Buffer.allocUnsafe(FIRST_CAPACITY);
  #length = 0;

  /** @returns the bytes so far, which are valid until the next `add` */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  add(piece: Buffer): void {
    const length = this.#length + piece.length;
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(2 ** Math.ceil(Math.log2(length)));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    piece.copy(this.#bytes, this.#length);
    this.#length = length;
  }
}

export class ByteSource {
  readonly #pieces: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);
  #total = 0;

  /** @param limit of all bytes that are read. @param tooMuch error if the stream has more */
  constructor(
    stream: AsyncIterable<Buffer>,
    readonly limit: number,
    readonly tooMuch: () => Error,
  ) {
    this.#pieces = stream[Symbol.asyncIterator]();
  }

  /** @returns false if the stream has ended */
  async #more(): Promise<boolean> {
    const { value, done } = await this.#pieces.next();
    if (done === true) return false;
    this.#total += value.length;
    if (this.#total > this.limit) throw this.tooMuch();
    this.#held = this.#held.length === 0 ? value : Buffer.concat([this.#held, value]);
    return true;
  }

  /**
   * @param limit longest line in bytes, with its end
   * @returns the next line as Latin-1, without its end (CR LF or LF); undefined, with nothing read, if there is none
   */
  async line(limit: number): Promise<string | undefined> {
    let end = this.#held.indexOf(LINE_FEED);
    while (end < 0) {
      const searched = this.#held.length;
      if (searched >= limit || !(await this.#more())) return undefined;
      end = this.#held.indexOf(LINE_FEED, searched);
    }
    if (end >= limit) return undefined;
    const text = this.#held.toString('latin1', 0, end - (this.#held[end - 1] === CARRIAGE_RETURN ? 1 : 0));
    this.#held = this.#held.subarray(end + 1);
    return text;
  }

  /** @returns up to `count` of the next bytes, at least one unless the stream has ended */
  async some(count: number): Promise<Buffer> {
    if (this.#held.length === 0) await this.#more();
    const piece = this.#held.subarray(0, count);
    this.#held = this.#held.subarray(piece.length);
    return piece;
  }

  /** @returns the next bytes without reading them: `count`, or fewer if the stream ends before */
  async peek(count: number): Promise<Buffer> {
    while (this.#held.length < count && (await this.#more()));
    return this.#held.subarray(0, count);
  }

  /** Puts bytes that were read back before the next ones. */
  unread(bytes: Buffer): void {
    this.#held = Buffer.concat([bytes, this.#held]);
  }
}
