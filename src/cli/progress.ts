/** Progress of something that takes long: a bar on a terminal, a plain line now and then anywhere else. Goes to stderr. */
import { Presets, SingleBar } from 'cli-progress';

export interface Progress {
  /** `note` is a few words that stand beside the count, e.g. what is being worked on. */
  step(count?: number, note?: string): void;
  /** Removes the bar (or says the last count); safe to call twice. */
  end(): void;
}

/** Shorter work is over before anybody looks. */
const SHOWN_AFTER_MS = 2_000;
const LINE_EVERY_MS = 10_000;

interface Options {
  readonly stream?: NodeJS.WriteStream;
  readonly clock?: () => number;
}

/** @param unit plural, e.g. 'pairs' */
export function startProgress(total: number, unit: string, options: Options = {}): Progress {
  const stream = options.stream ?? process.stderr;
  const clock = options.clock ?? Date.now;
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
        widget.start(total, done, { note });
        shown = true;
      } else if (shown) widget.update(done, { note });
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
  let saidAt: number | undefined;
  let saidDone = 0;
  const say = () => {
    saidAt = clock();
    saidDone = done;
    stream.write(`${done}/${total} ${unit} after ${Math.round((saidAt - startedAt) / 1000)} s\n`);
  };
  return {
    step(count = 1) {
      done += count;
      const since = clock() - (saidAt ?? startedAt);
      if (since >= (saidAt === undefined ? SHOWN_AFTER_MS : LINE_EVERY_MS)) say();
    },
    end() {
      if (saidAt !== undefined && saidDone !== done) say();
    },
  };
}
