/** A lens that is covered for long: one message, and one when it is clear again. */
import { describe, expect, it } from '@jest/globals';
import { checkLens } from '../../../src/camera/fold/lens-cover.js';
import { checkSettings } from '../../../src/camera/settings/settings.js';
import { healthMessage } from '../../../src/camera/settings/signal-message.js';
import type { CameraState } from '../../../src/camera/state/state.js';
import { type EndpointMessage, textOf } from '../../../src/endpoints/message.js';
import { LOCALES } from '../../../src/language/locales.js';
import { translated } from '../../../src/language/translate.js';
import { identicalFinding, tamperedFinding } from '../../../src/pipeline/finding.js';
import type { Finding } from '../../../src/schemas/comparison.js';

const NOON = Date.UTC(2026, 5, 1, 12);
const CLEAR = identicalFinding();
const covered = (share: number): Finding => ({
  ...CLEAR,
  lens: { share, boxes: [{ x: 0, y: 0, width: 1, height: 1 }] },
});

/** @param findings by the minute of their frame @returns the events with their minutes, and the last state */
function follow(findings: readonly (readonly [minute: number, finding: Finding | null])[], settings: object = {}) {
  const camera = { id: 'gate', settings: checkSettings(settings) };
  let lens: CameraState['lens'];
  const events = findings.flatMap(([minute, finding]) => {
    const checked = checkLens(camera, lens, { at: NOON + minute * 60_000, finding });
    lens = checked.lens;
    return checked.event === null ? [] : [checked.event];
  });
  return { events, lens };
}
const minute = (at: number) => new Date(NOON + at * 60_000).toISOString();

describe('A covered lens', () => {
  it('is reported once after five minutes, and once when it has been clear for as long', () => {
    const frames = [
      ...[0, 2, 4, 6, 8].map((at) => [at, covered(0.3)] as const),
      ...[10, 12, 14, 16, 18].map((at) => [at, CLEAR] as const),
    ];
    expect(follow(frames)).toEqual({
      events: [
        { type: 'camera.lens_covered', camera: 'gate', reason: 'lens', share: 0.3, since: minute(0), at: minute(6) },
        { type: 'camera.lens_clear', camera: 'gate', reason: 'lens', share: 0.3, since: minute(0), at: minute(16) },
      ],
      lens: undefined,
    });
  });

  it('is none if it does not last, and stays one if single frames are clear, tampered or compared with nothing', () => {
    expect(
      follow([
        [0, covered(0.3)],
        [4, CLEAR],
        [6, covered(0.3)],
        [10, covered(0.3)],
      ]).events,
    ).toEqual([]);
    const blocked = tamperedFinding([{ name: 'blocked', score: 0.9 }]);
    const between = [
      [7, CLEAR],
      [8, covered(0.4)],
      [9, null],
      [20, blocked],
      [21, covered(0.5)],
    ] as const;
    const { events, lens } = follow([[0, covered(0.3)], [6, covered(0.3)], ...between]);
    expect(events).toHaveLength(1);
    expect(lens).toEqual({ since: NOON, share: 0.5, reported: true });
  });

  it('is reported when the suspension of alerts ends, and never with a time of 0', () => {
    const frames = [0, 6, 12].map((at) => [at, covered(0.3)] as const);
    const suspended = follow(frames, { suspend_until: minute(10) });
    expect(suspended.events).toMatchObject([{ since: minute(0), at: minute(12) }]);
    expect(follow(frames, { covered_after_s: 0 })).toEqual({ events: [], lens: undefined });
  });
});

describe('Its messages', () => {
  const texts = (type: 'camera.lens_covered' | 'camera.lens_clear') => {
    const since = minute(0);
    const message = healthMessage({ type, camera: 'gate-3', reason: 'lens', share: 0.304, since, at: since }, NOON);
    const shown = { ...message, cameraName: 'gate-3', timeZone: 'Europe/Berlin' } as EndpointMessage;
    return LOCALES.map((locale) => textOf({ ...shown, caption: translated(message, locale).caption, locale }));
  };

  it('name the camera, the share and the time in five languages', () => {
    const [english, ...others] = texts('camera.lens_covered');
    expect(english).toBe(
      'Something has been on the lens of gate-3 since 2026-06-01 14:00:00 Europe/Berlin; it covers 30 % of the view.',
    );
    for (const text of others) expect(text).toMatch(/^(?=.*gate-3)(?=.*14:00)(?=.*30 ?%)/);
    const [clear, ...rest] = texts('camera.lens_clear');
    expect(clear).toBe(
      'The lens of gate-3 is clear again; something had been on it since 2026-06-01 14:00:00 Europe/Berlin.',
    );
    for (const text of rest) expect(text).toMatch(/^(?=.*gate-3)(?=.*14:00)/);
  });
});
