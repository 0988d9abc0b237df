import { describe, expect, it } from '@jest/globals';
import { checkSettings } from '../../../src/camera/settings/settings.js';
import { filterFinding, zoneOf } from '../../../src/camera/settings/zones.js';
import { translated } from '../../../src/language/translate.js';
import type { Finding } from '../../../src/schemas/comparison.js';
import { finding as base } from '../../helpers/comparisons.js';

const rectangle = (x1: number, x2: number) => [
  [x1, 0],
  [x2, 0],
  [x2, 1],
  [x1, 1],
];
const region = (x: number, change: object = {}) => ({
  id: 1,
  side: 'after',
  box: { x, y: 0.4, width: 0.1, height: 0.2 },
  area: 0.02,
  score: 0.8,
  ...change,
});
const finding = (...regions: object[]) => ({ ...structuredClone(base), regions }) as unknown as Finding;
const sift = (found: Finding, settings: object) => filterFinding(found, checkSettings(settings));
const yard = { id: 'yard', type: 'include', polygon: rectangle(0, 0.5) };
const street = { id: 'street', type: 'ignore', polygon: rectangle(0.4, 1) };

describe('filtering a finding', () => {
  it('changes nothing if the camera has no zones', () => {
    const found = finding(region(0.2), region(0.7, { id: 2 }));
    expect(sift(found, {})).toEqual({ finding: found, excluded: 0 });
  });

  it('excludes a region that overlaps an ignore zone by at least min_overlap', () => {
    // 0.37 to 0.47 in the street that begins at 0.4: 70 %; 0.325 to 0.425: 25 %
    expect(sift(finding(region(0.37)), { zones: [street] }).excluded).toBe(1);
    expect(sift(finding(region(0.325)), { zones: [street] }).excluded).toBe(0);
    expect(sift(finding(region(0.325)), { zones: [{ ...street, min_overlap: 0.2 }] }).excluded).toBe(1);
  });

  it('says in every language that nothing counts if all regions are excluded', () => {
    const { finding: left } = sift(finding(region(0.8)), { zones: [street] });
    expect(left).toMatchObject({
      verdict: 'none',
      kind: 'none',
      caption: 'Nothing that counts has changed.',
      regions: [],
    });
    expect(left.words.map(({ text }) => text).join(' ')).toBe(left.caption);
    expect(translated(left, 'de').caption).toBe('Nichts, was zählt, hat sich verändert.');
  });

  it('numbers the remaining regions from 1 in the same order', () => {
    const { finding: left, excluded } = sift(finding(region(0.8), region(0.1), region(0.2)), {
      zones: [yard],
    });
    expect(left.regions.map(({ id, box, zone }) => [id, box.x, zone])).toEqual([
      [1, 0.1, 'yard'],
      [2, 0.2, 'yard'],
    ]);
    expect(excluded).toBe(1);
    expect(left.caption).toBe(base.caption);
  });

  it('keeps the statements about the remaining regions, and drops one whose region is excluded', () => {
    const statement = (text: string, kind: string, ...regions: number[]) => ({
      text,
      kind,
      regions,
      score: 0.9,
    });
    const regions = [region(0.8), region(0.1, { id: 2 }), region(0.2, { id: 3, side: 'before' })];
    const statements = [
      statement('a van has appeared', 'appear', 1),
      statement('a car has appeared', 'appear', 2),
      statement('the bin has moved', 'move', 1, 3),
      statement('the bag has moved', 'move', 2, 3),
    ];
    const found = { ...finding(...regions), statements } as unknown as Finding;
    expect(sift(found, { zones: [street] }).finding.statements).toEqual([
      statement('a car has appeared', 'appear', 1),
      statement('the bag has moved', 'move', 1, 2),
    ]);
  });

  it('applies the least area and score of the zone, or those of the camera', () => {
    const small = finding(region(0.1));
    expect(sift(small, { min_area: 0.03 }).excluded).toBe(1);
    expect(sift(small, { min_area: 0.03, zones: [{ ...yard, min_area: 0.01 }] }).excluded).toBe(0);
    expect(sift(small, { zones: [{ ...yard, threshold: 0.9 }] }).excluded).toBe(1);
  });

  it('turns a change without a counting region into none, with a caption that says so', () => {
    const { finding: none } = sift(finding(region(0.7)), { zones: [street] });
    expect(none).toMatchObject({ verdict: 'none', kind: 'none', severity: 'info', regions: [] });
    expect(none.words.map(({ text }) => text).join(' ')).toBe(none.caption);
    expect(none.confidence).toBe(base.confidence);
  });

  it('keeps a change without regions, and tampering', () => {
    expect(sift(finding(), { zones: [yard] }).finding.verdict).toBe('change');
    const tamper = { ...finding(region(0.7)), verdict: 'tamper' as const };
    expect(sift(tamper, { zones: [street] }).finding).toEqual(tamper);
  });

  it('assigns the zone that covers most of the region', () => {
    const { zones } = checkSettings({
      zones: [yard, { id: 'door', type: 'include', polygon: rectangle(0.15, 0.3) }],
    });
    expect(zoneOf({ x: 0.12, y: 0, width: 0.1, height: 0.1 }, zones, ['include'])?.id).toBe('yard');
    expect(zoneOf({ x: 0.6, y: 0, width: 0.1, height: 0.1 }, zones, ['include'])).toBeNull();
  });
});
