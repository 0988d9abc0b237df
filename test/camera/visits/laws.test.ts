/** Laws of the visits: sentences that hold for all frames. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { foldVisits } from '../../../src/camera/visits/fold.js';
import { initialVisitsState, type VisitFrame } from '../../../src/camera/visits/state.js';
import { openVisits } from '../../../src/camera/visits/visit.js';
import type { Visit } from '../../../src/schemas/visit.js';
import { arbitraryFrames, foldAll, SETTINGS } from './made-frames.js';

const RUNS = { numRuns: 200 };
const law = (name: string, holds: (frames: VisitFrame[]) => void): void =>
  it(name, () => fc.assert(fc.property(arbitraryFrames, holds), RUNS));

const all = (frames: readonly VisitFrame[]): Visit[] => {
  const { state, events } = foldAll(frames);
  return [...events.map(({ visit }) => visit), ...openVisits(state, 'yard')];
};

describe('visits', () => {
  law('the state survives JSON', (frames) => {
    let state = initialVisitsState();
    for (const frame of frames) {
      const stored = JSON.parse(JSON.stringify(state)) as typeof state;
      expect(foldVisits(stored, frame, SETTINGS)).toEqual(foldVisits(state, frame, SETTINGS));
      state = foldVisits(state, frame, SETTINGS).state;
    }
  });

  it('frames that come twice, or late, change nothing', () => {
    const late = fc.tuple(arbitraryFrames, fc.array(fc.nat(), { maxLength: 20 }));
    fc.assert(
      fc.property(late, ([frames, picks]) => {
        const disturbed = frames.flatMap((frame, i) => {
          const earlier = picks
            .filter((pick) => pick % Math.max(1, frames.length) === i)
            .map((pick) => frames[pick % (i + 1)]);
          return [frame, ...earlier.filter((one) => one !== undefined)];
        });
        expect(foldAll(disturbed)).toEqual(foldAll(frames));
      }),
      RUNS,
    );
  });

  law('kind, status, end, times and sentence agree', (frames) => {
    for (const visit of all(frames)) {
      const { kind, status, end, gone, content, caption, frames: count } = visit;
      expect(kind).toBe(count >= 3 ? 'visit' : 'passage');
      expect(status === 'open').toBe(end === null);
      const isCertain = visit.identity === 'certain';
      expect(content.went.how === 'still').toBe(isCertain && status === 'open');
      // The last frames may show an absence that is not confirmed.
      const mayHaveGone = content.went.how === 'gone';
      expect(/\bstill there\b/.test(caption)).toBe(
        isCertain && (status === 'open' || (end === 'unseen' && !mayHaveGone)),
      );
      expect(/^Several [a-z]+ passed\b/.test(caption)).toBe(!isCertain);
      expect(isCertain || (content.stayed === null && content.came.how !== 'appeared')).toBe(true);
      expect(/\bat the beginning\b/.test(caption)).toBe(isCertain && visit.there_before);
      expect(Date.parse(visit.first_seen)).toBeLessThanOrEqual(Date.parse(visit.last_seen));
      expect(gone === null || (gone.after === visit.last_seen && gone.before > gone.after)).toBe(true);
      expect(content.seconds).toBe((Date.parse(visit.last_seen) - Date.parse(visit.first_seen)) / 1000);
    }
  });

  law('its best frame is one frame: a thing of that side has this box in that comparison at that time', (frames) => {
    for (const { best } of all(frames)) {
      const shown = frames.find(({ comparison }) => comparison === best.comparison);
      const time = best.side === 'after' ? shown?.at : shown?.before?.at;
      expect(best.at).toBe(new Date(time ?? Number.NaN).toISOString());
      expect(shown?.things.some(({ side, box }) => side === best.side && box === best.box)).toBe(true);
    }
  });

  law('a thing of a frame is in one track, and a frame begins no more tracks than it has things', (frames) => {
    let state = initialVisitsState();
    for (const frame of frames) {
      const next = foldVisits(state, frame, SETTINGS).state;
      const begun = next.tracks.filter(({ id }) => !state.tracks.some((track) => track.id === id));
      expect(begun.length).toBeLessThanOrEqual(frame.things.length);
      expect(new Set(next.tracks.map(({ id }) => id)).size).toBe(next.tracks.length);
      state = next;
    }
  });

  law('the path of a visit is in the order of time, and within its times', (frames) => {
    for (const { path, first_seen, last_seen } of all(frames)) {
      const times = path.map(({ at }) => at);
      expect(times).toEqual([...times].sort());
      expect(times[0]).toBe(first_seen);
      expect((times.at(-1) ?? '') <= last_seen).toBe(true);
    }
  });
});
