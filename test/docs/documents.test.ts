/** Links, commands, paths and figures of the documents, compared with the repository. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describeConfig } from '../../src/process/config.js';

/** Every Markdown file of the repository. */
const DOCUMENTS = readdirSync('.', { withFileTypes: true })
  .filter(({ name }) => !name.startsWith('.') && !['node_modules', 'dist', 'data', 'tmp'].includes(name))
  .flatMap((entry) =>
    entry.isDirectory()
      ? readdirSync(entry.name, { recursive: true }).map((file) => join(entry.name, String(file)))
      : [entry.name],
  )
  .filter((file) => file.endsWith('.md'));
/** Records of past work: the paths that they name may be gone. */
const HISTORY = /JOURNAL|CHANGELOG|journal/;
const read = (file: string) => readFileSync(file, 'utf8');

/** The heading's anchor as GitHub makes it. */
const anchor = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
const anchorsOf = (file: string) => [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchor(heading));

describe('links between documents', () => {
  it.each(DOCUMENTS)('%s: every relative link leads to a file that exists', (file) => {
    const links = [...read(file).matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].map(([, link = '']) => link);
    const broken = links.filter((link) => {
      const [path = '', fragment] = link.split('#');
      const target = path === '' ? file : join(dirname(file), path);
      if (!existsSync(target)) return true;
      return fragment !== undefined && target.endsWith('.md') && !anchorsOf(target).includes(fragment);
    });
    expect(broken).toEqual([]);
  });

  it.each(DOCUMENTS)('%s: every "npm run" it names is a script of package.json', (file) => {
    const scripts = Object.keys(JSON.parse(read('package.json')).scripts);
    const named = [...read(file).matchAll(/npm run (?:--silent |-s )?([a-z][a-z:-]*)/g)].map(([, script]) => script);
    expect(named.filter((script) => script !== undefined && !scripts.includes(script))).toEqual([]);
  });
});

describe('paths and commands in documents', () => {
  /** Paths in backticks that begin with a folder of the repository; patterns and placeholders are left out. */
  const PATH = /`((?:src|lab|test|training|research|scripts|docs|deploy|models|openapi|examples)\/[\w./-]+)`/g;

  it.each(DOCUMENTS.filter((file) => !HISTORY.test(file)))('%s: every path it names exists', (file) => {
    const paths = [...read(file).matchAll(PATH)].map(([, path = '']) => path);
    expect(paths.filter((path) => !existsSync(path))).toEqual([]);
  });

  it.each(DOCUMENTS.filter((file) => !HISTORY.test(file)))(
    '%s: every Python module and script that a command names exists',
    (file) => {
      const modules = [...read(file).matchAll(/python -m ((?:training|research)[\w.]*)/g)].map(([, name = '']) =>
        name.replaceAll('.', '/'),
      );
      const scripts = [...read(file).matchAll(/(?:node|python) ((?:scripts|test|training|research)\/[\w./-]+)/g)].map(
        ([, path = '']) => path,
      );
      expect(modules.filter((path) => !existsSync(`${path}.py`) && !existsSync(path))).toEqual([]);
      expect(scripts.filter((path) => !existsSync(path))).toEqual([]);
    },
  );
});

describe('options in documents', () => {
  const CONFIGS = ['training/configs', 'research/clevr', 'research/captioners'].flatMap((folder) =>
    readdirSync(folder)
      .filter((file) => file.endsWith('.toml'))
      .map((file) => join(folder, file)),
  );
  /** Sources of a command: its module or file, and the other files of its folder. */
  const sourcesOf = (command: string): string[] => {
    const [, module] = /python -m ((?:training|research)[\w.]*)/.exec(command) ?? [];
    if (module === undefined) return ['src/cli', 'clients/src', 'lab'];
    const path = module.replaceAll('.', '/');
    return existsSync(path) ? [path] : [`${path}.py`, dirname(path)];
  };
  const textOf = (path: string): string =>
    path.includes('.')
      ? read(path)
      : readdirSync(path, { recursive: true })
          .map(String)
          .filter((file) => /\.(py|ts)$/.test(file))
          .map((file) => read(join(path, file)))
          .join('\n');

  it.each([...DOCUMENTS.filter((file) => !HISTORY.test(file)), ...CONFIGS])(
    '%s: every option of a Python module or of scenedelta exists',
    (file) => {
      const text = read(file).replace(/\\\n#?\s*/g, ' ');
      const commands =
        text.match(/(?:python -m (?:training|research)[\w.]*|scenedelta(?:\.js)? [a-z]+) [^`\n]*/g) ?? [];
      const unknown = commands.flatMap((command) =>
        (command.match(/ --[a-z][a-z-]+/g) ?? [])
          .map((option) => option.trim())
          .filter((option) => !sourcesOf(command).some((path) => textOf(path).includes(option)))
          .map((option) => `${command}: ${option}`),
      );
      expect(unknown).toEqual([]);
    },
  );
});

describe('ARCHITECTURE.md: one request, top to bottom', () => {
  const section = /## One request, top to bottom\n([\s\S]*?)\n## /.exec(read('ARCHITECTURE.md'))?.[1] ?? '';
  const rows = section.split('\n').filter((line) => /^\| \d+ \|/.test(line));

  it('counts its steps without a gap', () => {
    expect(rows.map((row) => Number(row.split('|')[1]))).toEqual(rows.map((_, i) => i + 1));
    expect(rows.length).toBeGreaterThanOrEqual(10);
  });

  it.each(rows)('the place and every name that the row gives exist: %s', (row) => {
    const places = [...row.matchAll(/\[([^\]]+)\]\((src\/[^)]+)\)/g)];
    expect(places.length).toBeGreaterThan(0);
    const source = places.map(([, , path = '']) => (path.endsWith('.ts') ? read(path) : '')).join('\n');
    const names = [...row.matchAll(/`([a-zA-Z]+)\(\)`/g)].map(([, name = '']) => name);
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(source))).toEqual([]);
  });
});

describe('ARCHITECTURE.md: where things are', () => {
  const section = /## Where things are\n([\s\S]*?)\n## /.exec(read('ARCHITECTURE.md'))?.[1] ?? '';
  const answers = [...section.matchAll(/`(\w+)` in \[[^\]]+\]\(([^)#]+)\)/g)].map(([, name = '', path = '']) => [
    name,
    path,
  ]);

  it.each(answers)('%s is in %s', (name, path) => {
    expect(read(path)).toMatch(new RegExp(`\\b${name}\\b`));
  });

  it('lists every folder of src', () => {
    const folders = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(folders.map(({ name }) => name).filter((name) => !section.includes(`(src/${name})`))).toEqual([]);
  });
});

describe('README.md: figures', () => {
  const { metrics } = JSON.parse(read('models/scorer-surveillance/manifest.json'));
  const real = metrics['development pairs (109 real pairs, never trained on)'];
  const section = /## Figures\n([\s\S]*?)\n\|/.exec(read('README.md'))?.[1]?.replaceAll('\n', ' ') ?? '';

  it.each([
    ['points into the changed thing in (\\d+) %', 'pointing_game'],
    ['the kind right in (\\d+) %', 'kind'],
    ['the noun with its direction in (\\d+) %', 'noun'],
    ['the colour in (\\d+) %', 'colour'],
    ['the place in (\\d+) %', 'place'],
    ['(\\d+) % of the things it says are true', 'claimsTrue'],
  ])('"%s" is what the default bundle was measured to do', (words, metric) => {
    const [, said] = new RegExp(words).exec(section) ?? [];
    expect(Number(said)).toBe(Math.round(Number.parseFloat(real[metric])));
  });
});

describe('npx', () => {
  /** A name that the registry lacks is fetched from the person who registers it, and run without a question. */
  const FETCHES = /\bnpx (?:-y |--yes )?scenedelta|"command":\s*"npx"/;
  const files = execFileSync('git', ['ls-files'], { encoding: 'utf8' })
    .split('\n')
    .filter((file) => /\.(md|ts|tsx|mjs|cjs|py|json|ya?ml|sh|html)$/.test(file) && file !== 'package-lock.json');

  it('is named nowhere without --no-install', () => {
    expect(files.length).toBeGreaterThan(1000);
    const found = files.filter((file) => existsSync(file) && FETCHES.test(readFileSync(file, 'utf8')));
    expect(found).toEqual([]);
  });
});

describe('deploy/README.md: the table of settings', () => {
  it('is what `node scripts/write-settings.mjs` writes from the schemas in src/process/config.ts', () => {
    const rows = [
      ...read('deploy/README.md').matchAll(/^\| `([A-Z0-9_]+)` \| ([^|]+) \| (?:`([^`]*)`)? ?\| (.*) \|$/gm),
    ];
    expect(rows.map(([, env, type, fallback = '', describe]) => ({ env, type, default: fallback, describe }))).toEqual(
      describeConfig().map((row) => ({ ...row, describe: row.describe.replaceAll('|', '\\|') })),
    );
  });
});

describe('the Dockerfiles', () => {
  it.each(['Dockerfile', 'deploy/Dockerfile.cuda'])(
    '%s copies only what exists and .dockerignore lets through',
    (file) => {
      const ignore = read('.dockerignore').split('\n');
      const sources = [...read(file).matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, list = '']) =>
        list.split(' '),
      );
      expect(sources.length).toBeGreaterThan(0);
      expect(sources.filter((source) => !existsSync(source))).toEqual([]);
      expect(sources.filter((source) => !ignore.includes(`!${source.split('/')[0]}`))).toEqual([]);
    },
  );
});
