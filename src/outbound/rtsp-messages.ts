/** Framing of RTSP over TCP (RFC 2326): messages with a head and a body, and packets of media between them. */

/** Longest message. A description of the streams has about a kilobyte. */
const MESSAGE_LIMIT = 64 * 1024;
/** First byte of a packet: '$', channel, length as two bytes, data (section 10.12). */
const PACKET = 0x24;
const PACKET_HEAD = 4;
const END_OF_HEAD = '\r\n\r\n';

export interface RtspMessage {
  /** request line or status line */
  readonly line: string;
  /** the headers as they came, without the last line break */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** @returns the values of a header, in the order of the message. @param name in lower case */
export const headerValues = ({ headers }: RtspMessage, name: string): string[] =>
  headers.filter((header) => hasName(header, name)).map((header) => header.slice(name.length + 1).trim());

/** @returns the message with this header once. @param name in lower case */
export const withHeader = (message: RtspMessage, name: string, value: string): RtspMessage => ({
  ...message,
  headers: [...message.headers.filter((header) => !hasName(header, name)), `${name}: ${value}`],
});

const hasName = (header: string, name: string): boolean => header.toLowerCase().startsWith(`${name}:`);

export const encodeMessage = ({ line, headers, body }: RtspMessage): Buffer =>
  Buffer.concat([Buffer.from([line, ...headers].join('\r\n') + END_OF_HEAD, 'latin1'), body]);

/**
 * Splits one direction of a connection.
 * @returns a function that takes the next bytes. It throws RangeError if they are no RTSP, or if a message is longer
 *   than 64 KiB.
 */
export function createSplitter(on: {
  message: (message: RtspMessage) => void;
  packet: (packet: Buffer) => unknown;
}): (bytes: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  /** @returns the bytes that were handled; 0 if more are needed */
  const takeOne = (): number => {
    if (rest[0] === PACKET) {
      const length = rest.length < PACKET_HEAD ? Number.POSITIVE_INFINITY : PACKET_HEAD + rest.readUInt16BE(2);
      if (rest.length < length) return 0;
      on.packet(rest.subarray(0, length));
      return length;
    }
    const end = rest.indexOf(END_OF_HEAD);
    if (end === -1) {
      if (rest.length > MESSAGE_LIMIT) throw new RangeError('bytes that are no RTSP message');
      return 0;
    }
    const [line = '', ...headers] = rest.toString('latin1', 0, end).split('\r\n');
    const start = end + END_OF_HEAD.length;
    const bodyLength = Number(headerValues({ line, headers, body: NOTHING }, 'content-length')[0] ?? 0);
    if (!(start + bodyLength <= MESSAGE_LIMIT)) throw new RangeError(`a message of more than ${MESSAGE_LIMIT} bytes`);
    if (rest.length < start + bodyLength) return 0;
    on.message({ line, headers, body: rest.subarray(start, start + bodyLength) });
    return start + bodyLength;
  };
  return (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    while (rest.length > 0) {
      const taken = takeOne();
      if (taken === 0) return;
      rest = rest.subarray(taken);
    }
  };
}

const NOTHING = Buffer.alloc(0);
