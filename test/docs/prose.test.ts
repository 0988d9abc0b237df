/** The prose check finds the sentences that it is made for, and leaves plain ones alone. */
import { resolve } from 'node:path';

type Finding = { line: number; message: string };
type Check = (source: string, path: string) => Promise<Finding[]>;
let check: Check;
beforeAll(async () => {
  const { createChecker } = (await import(resolve('scripts/lib/prose.mjs'))) as {
    createChecker: () => Promise<Check>;
  };
  check = await createChecker();
});

describe('a sentence that the check refuses', () => {
  it.each([
    'The heatmaps are rendered, a map a word.',
    'It is of no use on real pictures.',
    'It did not, as far as was looked at.',
    'q and like came together, expected one of them.',
    'Of one exchange: with a nonce kept from before.',
    'The same of a settled change.',
    'All frames but for the last.',
    'The text stays as it is.',
    'It connects again for ever.',
    'One operator thread a session.',
    'One process a machine.',
    'Workers: one a machine on CPU.',
    'Wall milliseconds a stage.',
    'The state is one JSON text a camera.',
    'The frame, or undefined where there is none.',
    'The alert, or null where it was suppressed.',
    'The alert, or `null` where it was suppressed.',
    'Returns null where no bundle has this name.',
    'Where no bundle has this name the default is used.',
    'Who fetches it makes requests that strangers chose.',
    'What an observation says is a track.',
    'What the API answers is validated.',
    'Whoever holds the turn works on the earliest frame.',
    'Nobody can read the key.',
    'Those that would begin while it hangs are left out.',
    'Read first: what is lost is a second opinion.',
    'The pool mourns a thread that has ended.',
    'How the belief of the model becomes a verdict.',
    'Only darkness is believed of the evidence alone.',
    'An alert is told once.',
    'The reducer tells the delivery queue.',
    'The store hears of a delivery.',
    'Both have an equal say in the weather.',
    'The answer says nothing of the unmasked frame.',
    'The third frame is said to be a duplicate.',
    'Every word knows what the sentence is about.',
    'The evaluation knows no clock.',
    'The camera remembers how the place looks.',
    'The oldest place is forgotten.',
    'Things that cannot be learned by heart.',
    'The second glance takes three crops.',
    'The decoder looks closer at three places.',
    'The tracker begins anew.',
    'The dial of the camera.',
    'A sentence that is owed a word.',
    'The fate of each thing.',
    'An alert that is kept quiet is counted.',
    'The upshot of a comparison.',
    'The present name of chooseGlances.',
    'News since the last observation.',
    'Older files have 0 here.',
    'Of a pending one; states from before this have none.',
    'Nuisances, the surest first.',
    // titles of decisions and an entry of the changelog, as they were
    'Every word knows what the sentence is about',
    'Whether a thing moved is asked of evidence that has nothing to learn by heart',
    'Which way a thing has gone is told by what cannot be learned by heart, and nothing is told twice.',
  ])('%s', async (sentence) => {
    expect(await check(`# Title\n\n${sentence}\n`, 'docs/page.md')).not.toEqual([]);
  });
});

describe('a sentence that the check accepts', () => {
  it.each([
    'Thread pool: one operator thread per session.',
    'Returns undefined if no bundle has this name.',
    'The place where both sides meet is the store.',
    'What is a region crop?',
    'JSON parsing blocks the event loop; multipart is streamed.',
    'The reducer decides which alert is suppressed, and counts it.',
    'Files of format 1 lack this field; the default is 0.',
    'The manifest key `glance` keeps its name.',
    'Detect moves with parameter-free matching features.',
    'A worker takes a job and renews its lock.',
  ])('%s', async (sentence) => {
    expect(await check(`# Title\n\n${sentence}\n`, 'docs/page.md')).toEqual([]);
  });
});

describe('where the check finds prose', () => {
  const lines = async (source: string, path: string) => (await check(source, path)).map(({ line }) => line);

  it.each([
    ['a comment over two lines', '/**\n * The key, or null\n * where there is none.\n */\nexport {};\n', 'a.ts', [2]],
    ['a line comment behind code', "const a = 'told'; // is told\n", 'a.ts', [1]],
    ['a tag of a comment', '/** Reads. @throws Stop where it fails. */\nexport {};\n', 'a.mjs', [1]],
    ['the title of a test', "it('tells the camera', () => {});\n", 'a.test.ts', [1]],
    ['a description of the API', "const a = { b: 1,\n description: 'Once a key a camera.' };\n", 'a.ts', [2]],
    ['a description in two strings', "const a = {\n description: 'Once a ' +\n 'key a camera.' };\n", 'a.ts', [2]],
    ['the description of a constructor', "const a =\n nullable(b, 'Of a camera.');\n", 'a.ts', [2]],
    ['a docstring', 'def f():\n    """Says what is told."""\n    return "told"\n', 'a.py', [2]],
    ['a comment of a configuration file', 'a: 1\n# It is told.\nb: told # told\n', 'a.yaml', [2]],
    ['a comment of Python', 'x = "# told"\ny = 1  # told\n', 'a.py', [2]],
  ])('%s', async (_situation, source, path, expected) => {
    expect(await lines(source, path)).toEqual(expected);
  });

  it.each([
    ['a string', "const text = 'it is told';\n", 'a.ts'],
    ['code in backticks', '// The name `told` stays in stored states.\nexport {};\n', 'a.ts'],
    ['a regular expression that holds slashes', 'const url = /https?:\\/\\/told/;\n', 'a.ts'],
  ])('not in %s', async (_situation, source, path) => {
    expect(await lines(source, path)).toEqual([]);
  });

  it('finds identifiers that name nothing, but no strings and no stored fields', async () => {
    const source = "const own = 1;\nexport const whole = { together: own, text: 'told' };\n";
    expect(await lines(source, 'a.ts')).toEqual([1, 2, 2, 2]);
    expect(await lines(source, 'src/stores/cameras/camera-state.ts')).toEqual([]);
    const python = '"""A text\n\nwith its own line.\n"""\nown = dict(told="own")  # whole\n';
    expect(await lines(python, 'training/a.py')).toEqual([5, 5]);
    expect(await lines(python, 'training/net/check.py')).toEqual([]);
  });

  it('reports a line of a comment that is longer than 120 characters', async () => {
    const found = await check(`/** ${'word '.repeat(24)}*/\nexport {};\n`, 'a.ts');
    expect(found).toEqual([{ line: 1, message: '126 characters, expected at most 120' }]);
  });
});

describe('a decision record', () => {
  const record = (title: string) => `# 0099: ${title}\n\nStatus: accepted\nDate: 2026-01-31\n\nText.\n`;

  it('is accepted with a decision as its title, a status and a date', async () => {
    expect(await check(record('Use one resampler'), 'docs/adr/0099-use-one-resampler.md')).toEqual([]);
  });

  it.each(['The captioner compares twice', 'Folders by what they own', 'Own registration'])(
    'is refused with the title "%s"',
    async (title) => {
      expect(await check(record(title), 'docs/adr/0099-a-page.md')).toHaveLength(1);
    },
  );

  it('is refused without status and date', async () => {
    expect(await check('# 0099: Use one resampler\n\nText.\n', 'docs/adr/0099-a-page.md')).toHaveLength(2);
  });
});
