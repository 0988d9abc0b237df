/** Progress display on stderr: a bar on a terminal, else a plain line every ten seconds. */
import { Presets, SingleBar } from 'cli-progress';
import { systemClock } from '../base/clock.js';
import { printable } from './print.js';

export interface Progress {
  /** @param note a few words beside the count, e.g. the current item */
  step(count?: number, note?: string): void;
  /** Removes the bar, or prints the last count; safe to call twice. */
  end(): void;
}

/** Shorter work shows no progress. */
const SHOWN_AFTER_MS = 2_000;
const LINE_EVERY_MS = 10_000;

interface Options {
  readonly stream?: NodeJS.WriteStream;
  readonly clock?: () => number;
}

/** @param unit plural, e.g. 'pairs' */
export function startProgress(total: number, unit: string, options: Options = {}): Progress {
  const stream = options.stream ?? process.stderr;
  const clock = options.clock ?? systemClock;
  return stream.isTTY ? bar(total, unit, stream, clock) : lines(total, unit, stream, clock);
}

function bar(total: number, unit: string, stream: NodeJS.WriteStream, clock: () => number): Progress {
  const startedAt = clock();
  const widget = new SingleBar(
    {
      stream,
      format: `{bar} {value}/{total} ${unit}, {eta_formatted} left {note}`,
      hideCursor: true,
      clearOnComplete: true,
      stopOnComplete: false,
    },
    Presets.shades_classic,
  );
  let done = 0;
  let shown = false;
  return {
    step(count = 1, note = '') {
      done += count;
      if (!shown && clock() - startedAt >= SHOWN_AFTER_MS) {
        widget.start(total, done, { note: printable(note) });
        shown = true;
      } else if (shown) widget.update(done, { note: printable(note) });
    },
    end() {
      if (shown) widget.stop();
      shown = false;
    },
  };
}

function lines(total: number, unit: string, stream: NodeJS.WriteStream, clock: () => number): Progress {
  const startedAt = clock();
  let done = 0;
  let printedAt: number | undefined;
  let printedDone = 0;
  let noted = '';
  const print = () => {
    printedAt = clock();
    printedDone = done;
    const note = noted === '' ? '' : `, ${printable(noted)}`;
    stream.write(`${done}/${total} ${unit} after ${Math.round((printedAt - startedAt) / 1000)} s${note}\n`);
  };
  return {
    step(count = 1, note = '') {
      done += count;
      noted = note;
      const since = clock() - (printedAt ?? startedAt);
      if (since >= (printedAt === undefined ? SHOWN_AFTER_MS : LINE_EVERY_MS)) print();
    },
    end() {
      if (printedAt !== undefined && printedDone !== done) print();
    },
  };
}
