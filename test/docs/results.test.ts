/** The figures of speed are of the bundle that ships; those of earlier bundles are in HISTORY.md. */
import { readFileSync } from 'node:fs';

const { name, version } = JSON.parse(readFileSync('models/scorer-surveillance/manifest.json', 'utf8'));
const sections = readFileSync('test/bench/RESULTS.md', 'utf8').split(/^## /m).slice(1);

it.each(sections.map((section) => [section.split('\n')[0], section]))(
  '%s: is of the bundle that ships',
  (_, section) => {
    const [, bundle] = /^(scorer-[a-z]+ [\d.]+)$/m.exec(section ?? '') ?? [];
    expect(bundle).toBe(`${name} ${version}`);
  },
);
