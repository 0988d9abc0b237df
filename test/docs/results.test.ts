/**
 * The figures of speed are of the bundle that ships, of one whose graphs differ in their weights alone, or of no model;
 * those of other bundles are in HISTORY.md.
 */
import { readFileSync } from 'node:fs';

const { name, version } = JSON.parse(readFileSync('models/scorer-surveillance/manifest.json', 'utf8'));
/**
 * Since 0.14.0 the namer has other weights of the same sizes and types, and the judge other columns; since 0.18.0 the
 * lens has 160 small trees for 80.
 */
const EQUALLY_FAST = [`${name} 0.14.0`, `${name} 0.18.0`, `${name} 0.19.0`];
const sections = ['test/bench/RESULTS.md', 'docs/growth.md'].flatMap((page) =>
  readFileSync(page, 'utf8').split(/^## /m).slice(1),
);

it.each(sections.map((section) => [section.split('\n')[0], section]))(
  '%s: is of a bundle as fast as the one that ships, or of no model',
  (_, section) => {
    const [, bundle] = /^(scorer-[a-z]+ [\d.]+|no model)$/m.exec(section ?? '') ?? [];
    expect([`${name} ${version}`, ...EQUALLY_FAST, 'no model']).toContain(bundle);
  },
);
