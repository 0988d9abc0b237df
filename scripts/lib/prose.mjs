/** Linter of prose: textlint with the rules of docs/prose-rules.yml, for documents and the comments of source files. */
import { readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { createLinter, loadTextlintrc } from 'textlint';
import { proseOf } from './comments.mjs';
import { vagueIdentifiers } from './identifiers.mjs';
import { ROOT } from './shell.mjs';

/**
 * @typedef {{ line: number, message: string }} Finding line of the file, from 1
 * @typedef {(source: string, path: string) => Promise<Finding[]>} Checker
 */

/** Longest line of a comment, in characters; markdownlint holds documents to the same. */
const LONGEST_LINE = 120;
/** Values that a condition may follow; other code in backticks is no prose. */
const VALUE_IN_BACKTICKS = /`(null|undefined|NaN|true|false|0|-1|Infinity)`/g;

/** @returns {Promise<Checker>} `source` is the text of a file, `path` chooses how it is read */
export async function createChecker() {
  const descriptor = await loadTextlintrc({ configFilePath: join(ROOT, '.textlintrc.json') });
  const linter = createLinter({ descriptor });

  /** @param {{ text: string, line: number }[]} lines @returns {Promise<Finding[]>} */
  async function lint(lines) {
    const text = lines.map((line) => line.text.replace(VALUE_IN_BACKTICKS, ' $1 ')).join('\n');
    const { messages } = await linter.lintText(text, 'prose.md');
    return messages.map(({ line, message }) => ({
      line: lines[line - 1]?.line ?? line,
      message: message.replaceAll('\n', ' '),
    }));
  }

  return async (source, path) => {
    const extension = extname(path);
    if (extension === '.md') {
      const lines = source.split('\n').map((text, i) => ({ text, line: i + 1 }));
      return [...(await lint(lines)), ...checkDecision(source, path)];
    }
    const paragraphs = paragraphsIn(source, path);
    if (paragraphs === null) return [{ line: 1, message: 'the file cannot be parsed' }];
    const lines = paragraphs.flatMap((paragraph) => [...paragraph, { text: '', line: paragraph.at(-1)?.line ?? 1 }]);
    const found = [...(await lint(lines)), ...longLines(source, paragraphs), ...vagueIdentifiers(path, source)];
    return found.sort((a, b) => a.line - b.line);
  };
}

/** @returns the paragraphs of comments and titles, or null if the file has a syntax error */
function paragraphsIn(source, path) {
  try {
    return proseOf(source, extname(path) || basename(path));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** @returns {Finding[]} one per line of a comment that is longer than LONGEST_LINE */
function longLines(source, paragraphs) {
  const all = source.split('\n');
  const lines = new Set(
    paragraphs
      .flat()
      .filter(({ literal }) => !literal)
      .map(({ line }) => line),
  );
  return [...lines]
    .filter((line) => (all[line - 1] ?? '').length > LONGEST_LINE)
    .map((line) => ({
      line,
      message: `${all[line - 1].length} characters, expected at most ${LONGEST_LINE}`,
    }));
}

/** @public Verbs that the titles of decision records begin with. A new verb is added here. */
export const DECISION_VERBS = (
  'Accept Arrange Ask Caption Compare Compile Condition Crop Detect Fetch Find Fit Judge Keep Measure Process Refuse ' +
  'Remove Replace Resample Run Separate Serve Split Start Store Train Use Write'
).split(' ');

/** A decision record needs a decision as its title, and Status and Date lines. @returns {Finding[]} */
function checkDecision(source, path) {
  if (!/(?:^|\/)docs\/adr\/\d{4}-/.test(path)) return [];
  const title = /^# \d{4}: (\w+)/.exec(source)?.[1] ?? '';
  const wanted = [
    [DECISION_VERBS.includes(title), `the title begins with "${title}", expected a verb of DECISION_VERBS`],
    [/^Status: (?:accepted|superseded|superseded in part)/m.test(source), 'expected a line "Status: accepted"'],
    [/^Date: \d{4}-\d{2}-\d{2}$/m.test(source), 'expected a line "Date: YYYY-MM-DD"'],
  ];
  return wanted.filter(([holds]) => !holds).map(([, message]) => ({ line: 1, message }));
}

/** @returns {Promise<Finding[]>} of one file */
export const checkFile = (check, path) => check(readFileSync(join(ROOT, path), 'utf8'), path);
