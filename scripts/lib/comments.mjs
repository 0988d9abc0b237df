/**
 * Extractor of prose from source files: comments of TypeScript, JavaScript, Python and configuration files, docstrings,
 * titles of tests, and the `description` texts from which openapi.yaml is generated. Each line of text carries its line
 * number.
 */
import { parse } from '@babel/parser';

/**
 * @typedef {{ text: string, line: number, literal?: boolean }} ProseLine line in the file, from 1; literal: a string of
 *   the code and no comment
 * @typedef {ProseLine[]} Paragraph lines that are read as one run of text
 */

/** Comments that are instructions to a tool. */
const DIRECTIVE = /^\s*(?:biome-ignore|@ts-|eslint|noqa|type:|ruff:|!\/)/;
/** Configuration files, whose comments begin with `#`. */
const HASH_COMMENTS = new Set(['.yaml', '.yml', '.toml', '.conf', '.service', '.cuda', 'Dockerfile', 'Caddyfile']);
const TEST_FUNCTIONS = new Set(['describe', 'it', 'test']);
/** Constructors of schemas whose last argument may be a description (src/schemas/constructors.ts). */
const DESCRIBED = new Set('text flag count literals nullable unit truthShare dateTime'.split(' '));
const PROSE_PROPERTIES = new Set(['description', 'describe', 'summary', 'comment']);

/**
 * @param {string} source @param {string} extension e.g. '.ts', or the name of a file without extension
 * @returns {Paragraph[]}
 */
export function proseOf(source, extension) {
  if (extension === '.py') return proseOfPython(source);
  return HASH_COMMENTS.has(extension) ? proseOfConfig(source) : proseOfScript(source, extension);
}

/** Lines that hold a comment only. @param {string} source @returns {Paragraph[]} */
function proseOfConfig(source) {
  const lines = source.split('\n').map((text, i) => ({ text: /^\s*#+ ?(.*)/.exec(text)?.[1] ?? '', line: i + 1 }));
  return paragraphsOf(lines);
}

/** @param {string} source @param {string} extension @returns {Paragraph[]} */
function proseOfScript(source, extension) {
  const plugins = extension === '.tsx' ? ['typescript', 'jsx'] : ['typescript'];
  const file = parse(source, { sourceType: 'unambiguous', plugins, tokens: false });
  const paragraphs = [];
  let run = [];
  let lastLine = -1;
  const endRun = () => {
    if (run.length > 0) paragraphs.push(...paragraphsOf(run));
    run = [];
  };
  for (const { type, value, loc } of file.comments ?? []) {
    if (DIRECTIVE.test(value)) continue;
    const { line, column } = loc.start;
    // Consecutive lines of `//` at one indentation are one comment.
    const continues = type === 'CommentLine' && line === lastLine + 1 && run.at(-1)?.column === column;
    if (!continues) endRun();
    const lines = value.split('\n').map((text) => text.replace(/^\s*\*+ ?/, ''));
    run.push(...lines.map((text, i) => ({ text, line: line + i, column })));
    lastLine = type === 'CommentLine' ? line : -1;
  }
  endRun();
  visit(file.program, (node) => {
    const text = titleOf(node) ?? describedBy(node) ?? descriptionOf(node);
    if (text !== undefined) paragraphs.push([text]);
  });
  return paragraphs;
}

/** The title of a `describe`, `it` or `test` call, with or without `.each`. @returns {ProseLine | undefined} */
function titleOf(node) {
  if (node.type !== 'CallExpression') return undefined;
  let callee = node.callee;
  while (callee.type === 'MemberExpression' || callee.type === 'CallExpression') {
    callee = callee.type === 'MemberExpression' ? callee.object : callee.callee;
  }
  const isTest = callee.type === 'Identifier' && TEST_FUNCTIONS.has(callee.name);
  return isTest ? textOf(node.arguments[0]) : undefined;
}

/** The description that a constructor of a schema gets. @returns {ProseLine | undefined} */
function describedBy({ type, callee, arguments: given }) {
  const isSchema = type === 'CallExpression' && callee.type === 'Identifier' && DESCRIBED.has(callee.name);
  return isSchema ? textOf(given.at(-1)) : undefined;
}

/** The value of a property like `description`. @returns {ProseLine | undefined} */
function descriptionOf(node) {
  if (node.type !== 'ObjectProperty' || node.computed) return undefined;
  return PROSE_PROPERTIES.has(node.key.name ?? node.key.value) ? textOf(node.value) : undefined;
}

/** @returns {ProseLine | undefined} of a string or template literal, or of several that `+` joins */
function textOf(node) {
  if (node?.type === 'BinaryExpression' && node.operator === '+') {
    const [left, right] = [textOf(node.left), textOf(node.right)];
    return left && right && { ...left, text: left.text + right.text };
  }
  if (node?.type === 'StringLiteral') return { text: node.value, line: node.loc.start.line, literal: true };
  if (node?.type !== 'TemplateLiteral') return undefined;
  const text = node.quasis.map((quasi) => quasi.value.cooked ?? '').join('`value`');
  return { text: text.replaceAll('\n', ' '), line: node.loc.start.line, literal: true };
}

function visit(node, enter) {
  if (Array.isArray(node)) {
    for (const one of node) visit(one, enter);
  } else if (typeof node?.type === 'string') {
    enter(node);
    for (const [key, value] of Object.entries(node)) {
      if (typeof value === 'object' && value !== null && !key.endsWith('Comments') && key !== 'loc') {
        visit(value, enter);
      }
    }
  }
}

/** A comment, a string of either quotes with its prefix (three quotes before one), or a bracket. */
export const PYTHON_TOKEN =
  /#[^\n]*|[rRbBuUfF]{0,2}(?:"""[\s\S]*?"""|'''[\s\S]*?''')|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[()[\]{}]/g;

/** @param {string} source @returns {Paragraph[]} */
function proseOfPython(source) {
  const lines = [];
  const paragraphs = [];
  let depth = 0;
  let previous = { line: -1, column: -1 };
  let comment = [];
  const endComment = () => {
    if (comment.length > 0) paragraphs.push(...paragraphsOf(comment));
    comment = [];
  };
  const starts = lineStarts(source);
  for (const { 0: token, index } of source.matchAll(PYTHON_TOKEN)) {
    const line = lineAt(starts, index);
    const column = index - starts[line - 1];
    if ('([{'.includes(token)) depth++;
    else if (')]}'.includes(token)) depth--;
    else if (token.startsWith('#')) {
      const text = token.replace(/^#+ ?/, '').replace(/^-{3,}/, '');
      if (DIRECTIVE.test(text)) continue;
      if (line !== previous.line + 1 || column !== previous.column) endComment();
      comment.push({ text, line });
      previous = { line, column };
    } else if (isDocstring(token, source.slice(starts[line - 1], index), depth)) {
      const text = token.replace(/^\w*(?:"""|''')/, '').replace(/(?:"""|''')$/, '');
      lines.push(...text.split('\n').map((one, i) => ({ text: one.trim(), line: line + i })), {
        text: '',
        line,
      });
    }
  }
  endComment();
  return [...paragraphs, ...paragraphsOf(lines)];
}

const isDocstring = (token, before, depth) => depth === 0 && before.trim() === '' && /^[rR]?(?:"""|''')/.test(token);

const lineStarts = (source) => [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)];

/** @returns {number} the line that holds the character at `index`, from 1 */
function lineAt(starts, index) {
  let [low, high] = [0, starts.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (starts[middle] <= index) low = middle;
    else high = middle;
  }
  return low + 1;
}

/** Splits at empty lines and before JSDoc tags; the tag and the parameter's name are no prose. */
function paragraphsOf(lines) {
  const paragraphs = [];
  let current = [];
  const end = () => {
    if (current.length > 0) paragraphs.push(current);
    current = [];
  };
  for (const { text, line } of lines) {
    const parts = text.split(/(?=(?:^|\s)@(?:param|returns?|throws|typedef|typeParam|template|see)\b)/);
    for (const part of parts) {
      const tag = /^\s*@(\w+)\s*(?:\{[^}]*\}\s*)?/.exec(part);
      if (tag !== null || part.trim() === '') end();
      const kept = tag === null ? part.trim() : withoutTag(part, tag);
      if (kept !== '') current.push({ text: kept, line });
    }
  }
  end();
  return paragraphs;
}

/** '@param name text' -> 'text'; '@throws Name text' -> '@throws Name text', because its wording is checked too. */
function withoutTag(part, [matched, tag]) {
  const rest = part.slice(matched.length);
  if (tag === 'param' || tag === 'typeParam') return rest.replace(/^\S+\s*(?:-\s+)?/, '');
  if (tag === 'throws') return `@throws ${rest}`;
  return rest;
}
