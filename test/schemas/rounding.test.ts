/** Rounded figures: in every answer and webhook, and of any finding. */
import fc from 'fast-check';
import { createLink, createPresenter } from '../../src/api/comparisons/links-presenter.js';
import { comparisonMessage } from '../../src/endpoints/comparison-message.js';
import { payloadOf } from '../../src/endpoints/payload.js';
import type { Comparison } from '../../src/schemas/comparison.js';
import { roundFigures } from '../../src/schemas/rounding.js';
import { foundChange, storedAlert } from '../helpers/changes.js';
import { acceptedComparison, finished } from '../helpers/comparisons.js';

const box = { x: 0.8885123, y: 0.4583333333, width: 0.1114877, height: 0.0416666 };
const measured = {
  caption_score: 0.6981234,
  words: [{ text: 'a', score: 0.40212345 }],
  confidence: 0.9999123,
  regions: [{ id: 1, side: 'after' as const, box, area: 0.00791234, score: 0.8607079753028224 }],
  timings_ms: {
    queue: 8,
    fetch: 6,
    decode: 1.178287,
    register: 189.694123,
    encode: 188.912123,
    caption: 75.736123,
    heatmap: 0.581123,
    total: 313,
  },
  viewpoint: {
    moved: true,
    shift_px: 12.345678,
    rotation_deg: -0.0123456,
    scale: 0.9999123,
    overlap: 0.98712345,
    inliers: 91,
    residual_px: 0.32912345,
  },
  metadata: { odometer: 1234.567891 },
} satisfies Partial<Comparison>;
const comparison = finished(acceptedComparison().comparison, measured);
const links = { baseUrl: 'http://127.0.0.1', key: Buffer.alloc(32), framesMs: 1_000, heatmapsMs: 1_000 };

/** Figures of more than three decimals, each with its path. */
function longFigures(value: unknown, path = ''): string[] {
  if (typeof value === 'number') return Number(value.toFixed(3)) === value ? [] : [`${path} = ${value}`];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => longFigures(member, `${path}/${name}`));
}

describe('figures that leave the service have three decimals, metadata excepted', () => {
  it('in the answer about a comparison', () => {
    const present = createPresenter(createLink({ baseUrl: () => links.baseUrl, linkKey: null, clock: () => 0 }), links);
    expect(longFigures(present(comparison))).toEqual(['/metadata/odometer = 1234.567891']);
  });

  it('in the webhook of a comparison', () => {
    expect(longFigures(payloadOf(comparisonMessage(comparison), { ...links, keptSince: 0 }).data)).toEqual([
      '/metadata/odometer = 1234.567891',
    ]);
  });

  it('in an alert', () => {
    const region = { side: 'after' as const, box, area: 0.00791234, score: 0.123456, zone: null };
    const { message } = storedAlert(foundChange({ confidence: 0.8607079753028224, regions: [region] }));
    const { change } = payloadOf(message, null).data as never as { change: { confidence: number } };
    expect(longFigures(change)).toEqual([]);
    expect(change.confidence).toBe(0.861);
  });
});

describe('roundFigures', () => {
  it('keeps a score that is no probability', () => {
    expect(roundFigures({ score: 7.96875 })).toEqual({ score: 7.969 });
    expect(roundFigures({ score: 0.9999 })).toEqual({ score: 0.999 });
  });

  it('leaves its argument unchanged', () => {
    expect(roundFigures(comparison).confidence).not.toBe(comparison.confidence);
    expect(comparison.confidence).toBe(measured.confidence);
  });

  it.each([
    [0.9999123, 0.999],
    [0.0000877, 0.001],
    [1, 1],
    [0, 0],
    [0.5469, 0.547],
  ])('shows the probability %d as %d: 0 and 1 are certain only', (confidence, shown) => {
    expect(roundFigures({ confidence, words: [{ score: confidence }] })).toEqual({
      confidence: shown,
      words: [{ score: shown }],
    });
  });

  it('keeps every box inside the frame', () => {
    const edges = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }));
    fc.assert(
      fc.property(edges, edges, ([x, right], [y, bottom]) => {
        const width = Math.abs(right - x);
        const height = Math.abs(bottom - y);
        const given = { x: Math.min(x, right), y: Math.min(y, bottom), width, height };
        const shown = roundFigures({ box: given }).box;
        expect(shown.x + shown.width).toBeLessThanOrEqual(1 + Number.EPSILON);
        expect(shown.y + shown.height).toBeLessThanOrEqual(1 + Number.EPSILON);
        for (const side of ['x', 'y', 'width', 'height'] as const) {
          expect(Math.abs(shown[side] - given[side])).toBeLessThan(0.0011);
          expect(shown[side]).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });
});

it('the evidence of a stored comparison stays in its record: answers and webhooks have its content alone', () => {
  const record = { ...comparison, statements: [], facts: [] };
  const present = createPresenter(createLink({ baseUrl: () => links.baseUrl, linkKey: null, clock: () => 0 }), links);
  const { data } = payloadOf(comparisonMessage(record), { ...links, keptSince: 0 });
  for (const shown of [present(record), data]) {
    expect(shown).not.toHaveProperty('statements');
    expect(shown).not.toHaveProperty('facts');
  }
});
