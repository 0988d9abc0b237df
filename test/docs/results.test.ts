/** The figures of speed are of the bundle that ships, or of no model; those of earlier bundles are in HISTORY.md. */
import { readFileSync } from 'node:fs';

const { name, version } = JSON.parse(readFileSync('models/scorer-surveillance/manifest.json', 'utf8'));
const sections = ['test/bench/RESULTS.md', 'docs/growth.md'].flatMap((page) =>
  readFileSync(page, 'utf8').split(/^## /m).slice(1),
);

it.each(sections.map((section) => [section.split('\n')[0], section]))(
  '%s: is of the bundle that ships, or of no model',
  (_, section) => {
    const [, bundle] = /^(scorer-[a-z]+ [\d.]+|no model)$/m.exec(section ?? '') ?? [];
    expect([`${name} ${version}`, 'no model']).toContain(bundle);
  },
);
