/** The workspace and the package of the repository, which carries the built clients. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
const [clients, repository] = [read('clients/package.json'), read('package.json')];

it('the repository lists each library of the clients in the same version', () => {
  expect(repository.dependencies).toMatchObject(clients.dependencies);
  expect(repository.devDependencies).toMatchObject(clients.devDependencies);
});

it('has the version of the repository', () => {
  expect(clients.version).toBe(repository.version);
});

it('has the clients that the command line names', () => {
  const names = (file: string) => {
    const [, table = ''] = /^const CLIENTS.*\{\n([\s\S]*?)^\};/m.exec(readFileSync(file, 'utf8')) ?? [];
    return [...table.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name).sort();
  };
  expect(names('clients/src/main.ts')).not.toEqual([]);
  expect(names('src/cli/main.ts')).toEqual(names('clients/src/main.ts'));
});

describe('the client in Python', () => {
  it('has the version of the repository', () => {
    const [, version] =
      /^__version__ = "(.*)"$/m.exec(readFileSync('clients/python/scenedelta/__init__.py', 'utf8')) ?? [];
    expect(version).toBe(repository.version);
  });

  it('has the types of openapi.yaml', () => {
    execFileSync(process.execPath, ['scripts/write-python-types.mjs', '--check']);
  });

  // `npm test` makes .venv-api if Python is installed.
  (existsSync('.venv-api/bin/mypy') ? it : it.skip)('passes the strict types of mypy', () => {
    execFileSync('.venv-api/bin/mypy', ['--strict', '--no-incremental', 'clients/python/scenedelta']);
  });
});
