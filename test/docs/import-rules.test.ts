/** The README.md of each folder lists the same imports as .dependency-cruiser.cjs. */
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
