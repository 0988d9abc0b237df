/** The timeline of a report: a row for each camera with its gaps and a mark for each entry. */
import type { ReportCamera, ReportData, ReportEntry } from '../../../../src/schemas/documents.js';

/** Height of a row and its width, in units. */
const ROW = 26;
const WIDTH = 1000;
const MARK = 4;

/** Share of the line at its ends that has no label of a tick. */
const EDGE = 0.03;

interface TimelineProps {
  readonly data: ReportData;
  readonly entries: readonly ReportEntry[];
  readonly shown: ReadonlySet<ReportEntry>;
  readonly current: ReportEntry | undefined;
  readonly choose: (entry: ReportEntry) => void;
}

export const Timeline = ({ data: { cameras, texts }, ...props }: TimelineProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys go through its entries
  <section id="timeline" tabIndex={0} aria-label={texts.timeline_keys}>
    {cameras.map((camera) => (
      <Row key={camera.camera} camera={camera} {...props} />
    ))}
  </section>
);

interface RowProps extends Omit<TimelineProps, 'data'> {
  readonly camera: ReportCamera;
}

function Row({ camera: { camera, span, gaps, ticks, from, to }, entries, shown, current, choose }: RowProps) {
  const share = (time: number) => (time - span[0]) / Math.max(span[1] - span[0], 1);
  return (
    <div class="camera">
      <strong>{camera}</strong>
      <svg viewBox={`0 0 ${WIDTH} ${ROW}`} preserveAspectRatio="none" aria-hidden="true">
        <rect class="axis" x={0} y={ROW / 2 - 1} width={WIDTH} height={2} />
        {ticks.map(([time]) => (
          <rect key={time} class="axis" x={WIDTH * share(time)} y={0} width={1} height={ROW} />
        ))}
        {gaps.map(([begin, end], i) => (
          <rect
            key={i}
            class="gap"
            x={WIDTH * share(begin)}
            y={MARK}
            width={WIDTH * (share(end) - share(begin))}
            height={ROW - 2 * MARK}
          />
        ))}
        {entries
          .filter((entry) => entry.camera === camera)
          .map((entry) => (
            // biome-ignore lint/a11y/noStaticElementInteractions: the keys of the timeline choose an entry as well
            <rect
              key={entry.id}
              class={`mark ${entry.severity}${shown.has(entry) ? '' : ' off'}${entry === current ? ' current' : ''}`}
              x={2 + (WIDTH - 2 * MARK) * share(entry.time)}
              y={MARK}
              width={MARK}
              height={ROW - 2 * MARK}
              rx={1.5}
              onClick={() => choose(entry)}
            >
              <title>{`${entry.when}: ${entry.caption}`}</title>
            </rect>
          ))}
      </svg>
      <div class="ticks" aria-hidden="true">
        {ticks
          .filter(([time]) => share(time) > EDGE && share(time) < 1 - EDGE)
          .map(([time, label]) => (
            <span key={time} style={{ left: `${100 * share(time)}%` }}>
              {label}
            </span>
          ))}
      </div>
      <div class="ends">
        <span>{from}</span>
        <span>{to}</span>
      </div>
    </div>
  );
}
