/**
 * Places in a transport stream at which another file begins, as of `cat a.ts b.ts`. ffmpeg takes the packet before such
 * a place for damaged, because the counters of the packets start again, but no picture is missing.
 */
import { createReadStream } from 'node:fs';

const PACKET = 188;
const SYNC = 0x47;
/** Packets without content. */
const NULL_PID = 0x1fff;
const FIRST_VIDEO_ID = 0xe0;
const LAST_VIDEO_ID = 0xef;
/** Time stamps have 33 bits. */
const WRAP = 2 ** 33;

/** A decoding time as packets state it, 90 kHz, instead of one that ffmpeg has continued beyond the wrap. */
const wrapped = (dts: number): number => ((dts % WRAP) + WRAP) % WRAP;

export interface Joins {
  /** @param dts of a packet, 90 kHz @returns whether another file begins behind it */
  isBehind(dts: number): boolean;
}

/**
 * Reads the whole file, if it is a transport stream. Another file begins with a picture that needs no other one, and
 * there the counters of other streams start again too; where packets are lost, one of the two does not hold.
 * @returns without joins if the file cannot be read, or has packets of another length
 */
export async function joinsOf(path: string): Promise<Joins> {
  const reader = new JoinReader();
  try {
    let rest = Buffer.alloc(0);
    let isFirst = true;
    for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 }) as AsyncIterable<Buffer>) {
      const bytes = Buffer.concat([rest, chunk]);
      if (isFirst && (bytes[0] !== SYNC || bytes[PACKET] !== SYNC)) break;
      isFirst = false;
      let at = 0;
      while (at + PACKET <= bytes.length) {
        if (bytes[at] !== SYNC) at++;
        else {
          reader.take(bytes.subarray(at, at + PACKET));
          at += PACKET;
        }
      }
      rest = bytes.subarray(at);
    }
  } catch {
    // ffmpeg reads the file too, and says why it cannot.
  }
  return { isBehind: (dts) => reader.joins.has(wrapped(dts)) };
}

interface StreamState {
  readonly counter: number;
  /** of the last picture; null: there was none, or the stream is no video */
  readonly dts: number | null;
  /** breaks of all counters until its last packet */
  readonly breaks: number;
}

class JoinReader {
  /** decoding times of the pictures before joins */
  readonly joins = new Set<number>();
  readonly #streams = new Map<number, StreamState>();
  #breaks = 0;

  take(packet: Buffer): void {
    const pid = packet.readUInt16BE(1) & 0x1fff;
    const flags = packet[3] as number;
    const hasPayload = (flags & 0x10) !== 0;
    if (pid === NULL_PID || !hasPayload) return;
    const counter = flags & 0x0f;
    const last = this.#streams.get(pid);
    const isBroken = last !== undefined && counter !== ((last.counter + 1) & 0x0f) && counter !== last.counter;
    if (isBroken) {
      const othersBroke = this.#breaks > last.breaks;
      if (last.dts !== null && othersBroke && isSelfContained(packet)) this.joins.add(last.dts);
      this.#breaks++;
    }
    const dts = pictureTime(packet) ?? last?.dts ?? null;
    this.#streams.set(pid, { counter, dts, breaks: this.#breaks });
  }
}

/** Length of the adaptation field with its length byte; 0: there is none. */
const adaptationLength = (packet: Buffer): number =>
  ((packet[3] as number) & 0x20) === 0 ? 0 : 1 + (packet[4] as number);

/** Whether a picture begins in the packet. */
const isStart = (packet: Buffer): boolean => ((packet[1] as number) & 0x40) !== 0;

/** Whether a picture begins that needs no other one (random access indicator). */
const isSelfContained = (packet: Buffer): boolean =>
  isStart(packet) && adaptationLength(packet) > 1 && ((packet[5] as number) & 0x40) !== 0;

/** @returns the decoding time of the picture that begins in the packet, 90 kHz; null if none begins */
function pictureTime(packet: Buffer): number | null {
  const at = 4 + adaptationLength(packet);
  if (!isStart(packet) || at + 19 > PACKET || packet.readUIntBE(at, 3) !== 1) return null;
  const id = packet[at + 3] as number;
  if (id < FIRST_VIDEO_ID || id > LAST_VIDEO_ID) return null;
  const stamps = (packet[at + 7] as number) >> 6;
  if (stamps < 2) return null;
  // The presentation time comes first, then the decoding time if it differs.
  return timeStamp(packet, stamps === 3 ? at + 14 : at + 9);
}

/** 33 bits in five bytes, with a marker bit behind each part. */
const timeStamp = (bytes: Buffer, at: number): number =>
  (((bytes[at] as number) >> 1) & 0x07) * 2 ** 30 +
  (bytes.readUInt16BE(at + 1) >> 1) * 2 ** 15 +
  (bytes.readUInt16BE(at + 3) >> 1);
