/**
 * The README.md of each folder lists the same imports as .dependency-cruiser.cjs, and ARCHITECTURE.md those between
 * folders.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

interface Rule {
  readonly name: string;
  readonly from: { readonly path?: string };
  readonly to: { readonly pathNot?: string };
}
const { forbidden } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as {
  forbidden: readonly Rule[];
};

/** Imports that a rule allows, without the folder itself: folders, and files as `folder/file.ts`. */
const allowedBy = ({ name, to }: Rule): string[] => {
  const [, folders = ''] = /^\^src\/\(([^)]*)\)\//.exec(to.pathNot ?? '') ?? [];
  const files = [...(to.pathNot ?? '').matchAll(/\|\^src\/([^|(]*)(?:\(([^)]*)\))?\\\.ts\$/g)].flatMap(
    ([, path = '', several]) => several?.split('|').map((file) => `${path}${file}.ts`) ?? [`${path}.ts`],
  );
  return [...folders.split('|').filter((folder) => folder !== name), ...files].sort();
};
const folderRules = forbidden.filter(({ name, from }) => from.path === `^src/${name}/`);

it('most folders of src have a rule', () => {
  expect(folderRules.length).toBeGreaterThan(20);
});

it.each(folderRules.map((rule) => [rule.name, rule] as const))(
  'the README.md of %s/ names what it may import',
  (name, rule) => {
    const [, sentence = ''] =
      /^May import: ([^.]*(?:\.ts[^.]*)*)\./m.exec(readFileSync(`src/${name}/README.md`, 'utf8')) ?? [];
    expect([...sentence.matchAll(/`([\w/.-]+)`/g)].map(([, word = '']) => word).sort()).toEqual(allowedBy(rule));
  },
);

describe('The table of imports in ARCHITECTURE.md', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const folderOf = (file: string) => file.split('/')[0] as string;
  const imports = new Map(files.map((file) => [folderOf(file), new Set<string>()]));
  for (const file of files) {
    for (const [, address = ''] of readFileSync(join('src', file), 'utf8').matchAll(/(?:from |import\()'(\.[^']+)'/g)) {
      const to = folderOf(join(file, '..', address));
      if (to !== folderOf(file) && imports.has(to)) imports.get(folderOf(file))?.add(to);
    }
  }
  const section = readFileSync('ARCHITECTURE.md', 'utf8').split('## Imports by folder')[1] ?? '';
  const table = [...section.matchAll(/^\| (\w+) \| (.*?) ?\|$/gm)].slice(1).map(([, folder = '', list = '']) => {
    return [folder, list === '' ? [] : list.split(', ')] as const;
  });

  it('names all of them', () => {
    const measured = [...imports].map(([folder, to]) => [folder, [...to].sort()] as const);
    expect(Object.fromEntries(table)).toEqual(Object.fromEntries(measured));
    expect(section).toContain(`The ${table.flatMap(([, list]) => list).length} imports between the ${table.length}`);
  });

  it.each(table.map(([folder, list], i) => [folder, list, i] as const))(
    '%s imports folders of rows above it alone',
    (_folder, list, row) => {
      const above = table.slice(0, row).map(([folder]) => folder);
      expect(list.filter((folder) => !above.includes(folder))).toEqual([]);
    },
  );
});
