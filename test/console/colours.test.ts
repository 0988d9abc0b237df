/** The colours of the design: text is readable on every ground, light and dark (WCAG 2.2 AA). */
import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';

const [light = '', dark = ''] = readFileSync('console/src/styles/tokens.css', 'utf8').split(
  'prefers-color-scheme: dark',
);
const colourOf = (css: string, name: string): string => new RegExp(`--${name}: (#[0-9a-f]{6})`).exec(css)?.[1] ?? '';

/** Relative luminance of WCAG. */
function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const level = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return level <= 0.04045 ? level / 12.92 : ((level + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

const TEXTS = ['ink', 'quiet', 'accent', 'fault', 'info', 'low', 'medium', 'high'];

it.each([
  ['light', light],
  ['dark', dark],
])('the colours of texts have a contrast of at least 4.5, %s', (_scheme, css) => {
  const low = TEXTS.flatMap((text) =>
    ['ground', 'surface', 'sunken']
      .map((ground) => [text, ground, contrast(colourOf(css, text), colourOf(css, ground))] as const)
      .filter(([, , found]) => !(found >= 4.5)),
  );
  expect(low).toEqual([]);
  expect(contrast(colourOf(css, 'on-accent'), colourOf(css, 'accent'))).toBeGreaterThanOrEqual(4.5);
});
