/** The lines of a log of ffmpeg that report damage. Levels of the log: `-loglevel level+info`. */
import { once } from '../../base/once.js';
import { type Joins, joinsOf } from './joins.js';

/** Messages that concern no picture, or none that is used; `muxer`: the times that the pipe would give the frames. */
const HARMLESS =
  /mmco:|co located POCs|number of reference frames|on whitelist|codec parameters|pixel format|deprecated|dts to muxer/;
/** A file was cut: its last packet is left out, and what was read before is whole. */
const CUT = /File ended prematurely|: partial file|Packet corrupt .*, dropping it/;
/** A recorder has allocated more than it wrote: zeros follow the last packet of a transport stream. */
const PADDING = /max resync size reached, could not find sync byte/;
/** The program repeats the report of the demuxer. */
const REPEATED = /corrupt input packet/;
const NO_DAMAGE = [CUT, PADDING, REPEATED];

/** The demuxer's report of a packet, with its decoding time. */
const PACKET = /Packet corrupt \(stream = \d+, dts = (-?\d+|NOPTS)\)/;
/** Before this line the demuxer reads ahead to learn what a file has; it reports the packets again at their place. */
const OPENED = /^\[info\] Input #0/;

/** @returns gives the joins of a file, which are read once, and only if a packet is reported */
export const lazyJoins = (path: string) => once(() => joinsOf(path));

/** Whether a line may be the reason why a file ends early, or why a picture is damaged. */
export const isComplaint = (line: string): boolean =>
  (/\[(?:error|fatal|panic)\] /.test(line) || /corrupt|concealing/i.test(line)) && !HARMLESS.test(line);

export const isCut = (line: string): boolean => CUT.test(line);

/** Takes all lines of the log of one process, in their order. */
export class DamageLines {
  readonly #joins: () => Promise<Joins>;
  #isOpened = false;

  constructor(joins: () => Promise<Joins>) {
    this.#joins = joins;
  }

  /** Whether a line reports a damaged picture. */
  async isDamage(line: string): Promise<boolean> {
    this.#isOpened ||= OPENED.test(line);
    if (!isComplaint(line) || NO_DAMAGE.some((pattern) => pattern.test(line))) return false;
    const [, dts] = PACKET.exec(line) ?? [];
    return dts === undefined || (this.#isOpened && !(await this.#joins()).isBehind(Number(dts)));
  }
}
