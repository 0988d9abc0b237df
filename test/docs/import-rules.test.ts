/** The table of ADR 0012 and the README.md of each folder list the same imports as .dependency-cruiser.cjs. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

interface Rule {
  readonly name: string;
  readonly from: { readonly path?: string };
  readonly to: { readonly pathNot?: string };
}
const { forbidden } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as {
  forbidden: readonly Rule[];
};
const record = readFileSync('docs/adr/0012-arrange-src-by-what-each-folder-owns.md', 'utf8');
const table = new Map(
  [...record.matchAll(/^\| `(\w+)\/` \| .* \| (.*?) ?\|$/gm)].map(([, folder = '', imports = '']) => [folder, imports]),
);
const words = (text: string) => [...text.matchAll(/`(\w+)`/g)].map(([, word = '']) => word).sort();

/** Folders that the rule of a folder allows, without the folder itself. */
const allowedBy = ({ name, to }: Rule): string[] =>
  [...(to.pathNot ?? '').matchAll(/\^src\/(?:\(([\w|]+)\)|(\w+))\/(?=$|\|)/g)]
    .flatMap(([, several, one]) => several?.split('|') ?? [one ?? ''])
    .filter((folder) => folder !== name)
    .sort();
const folderRules = forbidden.filter(({ name, from }) => from.path === `^src/${name}/`);

it('the table has a row for every folder with a rule', () => {
  expect([...table.keys()].filter((folder) => folder !== 'cli').sort()).toEqual(
    folderRules.map(({ name }) => name).sort(),
  );
});

it.each(folderRules.map((rule) => [rule.name, rule] as const))('%s/ may import what its row lists', (name, rule) => {
  const row = table.get(name) ?? '';
  const listed = words(row);
  const all = [...table.keys()].filter((folder) => folder !== name);
  const expected = row.startsWith('all but') ? all.filter((folder) => !listed.includes(folder)).sort() : listed;
  expect(allowedBy(rule)).toEqual(expected.filter((folder) => folder !== 'viewpoint' || !row.includes('geometry')));
});

it.each(folderRules.map((rule) => [rule.name, rule] as const))(
  'the README.md of %s/ names the folders that it may import',
  (name, rule) => {
    const readme = readFileSync(`src/${name}/README.md`, 'utf8');
    const [, sentence = ''] = /\b[Mm]ay import:?\s([\s\S]*?)(?:[.;]\s|\.?$)/.exec(readme) ?? [];
    const named = [...sentence.matchAll(/`(?:src\/)?(\w+)`/g)].map(([, folder = '']) => folder);
    expect(named.filter((folder) => table.has(folder)).sort()).toEqual(allowedBy(rule));
  },
);
