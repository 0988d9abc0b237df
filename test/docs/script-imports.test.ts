/** Scripts load compiled files by their names, which neither the compiler nor the linter follows. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const FROM_DIST = /const \{([^}]+)\} = await dist\(\s*'([^']+)\.js'/g;
const scripts = ['test', 'scripts'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) =>
    name.endsWith('.mjs') ? [`${folder}/${name}`] : [],
  ),
);
const imports = scripts.flatMap((script) =>
  [...readFileSync(script, 'utf8').matchAll(FROM_DIST)].map(([, names = '', file = '']): [string, string, string[]] => [
    script,
    file,
    names.split(',').flatMap((name) => name.trim().split(':')[0]?.trim() || []),
  ]),
);

it('finds the imports of scripts', () => {
  expect(imports.length).toBeGreaterThan(50);
});

it.each(imports)('%s: %s has the names that it takes', (_, file, names) => {
  const path = [`src/${file}.ts`, `lab/${file}.ts`].find(existsSync) ?? '';
  const exported = [
    ...readFileSync(path, 'utf8').matchAll(/^export (?:async )?(?:abstract )?(?:const|function\*?|class) (\w+)/gm),
    ...readFileSync(path, 'utf8').matchAll(/\b(\w+)(?=[^{}]*\} from ')/g),
  ].map(([, name]) => name);
  expect(exported).toEqual(expect.arrayContaining(names));
});
