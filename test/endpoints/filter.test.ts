import { describe, expect, it } from '@jest/globals';
import { wantsMessage } from '../../src/endpoints/filter.js';
import { rotated, validSecrets } from '../../src/endpoints/secrets.js';
import { type EndpointPatch, settingsWith } from '../../src/endpoints/settings.js';
import { foundChange, storedAlert } from '../helpers/changes.js';

const wants = (filters: EndpointPatch, change: Parameters<typeof foundChange>[0] = {}) =>
  wantsMessage(settingsWith(filters), storedAlert(foundChange(change)).message);

const LEFT = {
  ...{ value: 'object_left' as const, since: '2026-01-05T12:00:00.000Z', at: '2026-01-05T12:01:00.000Z' },
  ...{ probability: 0.9, owner: null },
};

describe('An endpoint', () => {
  it.each<[string, EndpointPatch, Parameters<typeof foundChange>[0], boolean]>([
    ['without filters gets everything', {}, {}, true],
    ['gets its cameras', { cameras: ['yard', 'gate'] }, {}, true],
    ['gets cameras by a prefix', { cameras: ['ga*'] }, {}, true],
    ['does not get other cameras', { cameras: ['yard', 'gat'] }, {}, false],
    ['gets its zones', { zones: ['door'] }, { zone: 'door' }, true],
    ['does not get changes outside of its zones', { zones: ['door'] }, { zone: null }, false],
    ['gets its kinds', { kinds: ['appear'] }, {}, true],
    ['does not get other kinds', { kinds: ['move', 'tamper'] }, {}, false],
    ['gets objects that were left', { kinds: ['object_left'] }, { object: LEFT }, true],
    ['gets them by the kind of their change, too', { kinds: ['appear'] }, { object: LEFT }, true],
    ['does not get other objects', { kinds: ['object_removed'] }, { object: LEFT }, false],
    ['does not get things that were not left', { kinds: ['object_left'] }, {}, false],
    ['gets its least severity', { min_severity: 'medium' }, { severity: 'medium' }, true],
    ['does not get less severe changes', { min_severity: 'high' }, { severity: 'medium' }, false],
    ['gets captions with all its words', { text: 'CAR  red' }, { caption: 'a red car has appeared' }, true],
    ['does not get captions without one of them', { text: 'car blue' }, { caption: 'a red car has appeared' }, false],
    ['does not get other events', { events: ['change.reverted'] }, {}, false],
    ['that is disabled gets nothing', { enabled: false }, {}, false],
  ])('%s', (_what, filters, change, expected) => expect(wants(filters, change)).toBe(expected));

  it('of Alertmanager also gets acknowledgements, which resolve the alert there', () => {
    expect(settingsWith({ format: 'alertmanager' }).events).toContain('change.acknowledged');
    expect(settingsWith({}).events).not.toContain('change.acknowledged');
  });
});

describe('The secrets of an endpoint', () => {
  const first = { url: 'u', authorization: null, signing: [{ secret: 'a', expiresAt: null }] };
  const rotate = (now: number, previousValidMs: number, from = first) =>
    rotated(from, { secret: 'b', previousValidMs, now });

  it('are two while rotating, the new one first, until the earlier one ends', () => {
    const both = rotate(1_000, 500);
    expect(validSecrets(both, 1_499)).toEqual(['b', 'a']);
    expect(validSecrets(both, 1_500)).toEqual(['b']);
  });
  it('are one at once if the earlier one may not stay', () => {
    expect(validSecrets(rotate(1_000, 0), 1_000)).toEqual(['b']);
  });
  it('are at most two, however often they are rotated', () => {
    const again = rotated(rotate(0, 1e9), { secret: 'c', previousValidMs: 1e9, now: 1 });
    expect(validSecrets(again, 2)).toEqual(['c', 'b']);
  });
});
