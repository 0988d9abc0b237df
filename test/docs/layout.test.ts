/** Size of files and folders: what stays small enough to read in one sitting. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

const MOST_LINES = 300;
const MOST_WORKER_FILES = 15;
const CODE = new Set(['.ts', '.tsx', '.mjs', '.cjs', '.py', '.sh']);
/** Data and generated files. */
const EXEMPT = ['src/base/preview-loops-code.ts', 'src/model/resample-code.ts'];

const files = ['src', 'lab', 'console/src', 'clients/src', 'test', 'scripts', 'training', 'research'].flatMap((root) =>
  readdirSync(root, { recursive: true }).map((file) => join(root, String(file))),
);
const linesOf = (file: string) => readFileSync(file, 'utf8').trimEnd().split('\n').length;
const tooLong = files
  .filter((file) => CODE.has(extname(file)) && !EXEMPT.includes(file) && linesOf(file) > MOST_LINES)
  .sort();
const foldersIn = (root: string) =>
  readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== '__pycache__')
    .map((entry) => join(root, entry.name));
const hasCode = (folder: string) =>
  readdirSync(folder, { recursive: true }).some((file) => CODE.has(extname(String(file))));
const withoutReadme = [...foldersIn('src'), ...foldersIn('training'), ...foldersIn('research')]
  .filter(hasCode)
  .filter((folder) => !existsSync(join(folder, 'README.md')))
  .sort();

it(`no file of code has more than ${MOST_LINES} lines`, () => {
  expect(tooLong.map((file) => `${file}: ${linesOf(file)}`)).toEqual([]);
});

it('every folder with code directly under src, training and research has a README.md', () => {
  expect(withoutReadme).toEqual([]);
});

it(`src/workers has at most ${MOST_WORKER_FILES} files`, () => {
  const workers = readdirSync('src/workers').filter((file) => file.endsWith('.ts'));
  expect(workers.length).toBeLessThanOrEqual(MOST_WORKER_FILES);
});
