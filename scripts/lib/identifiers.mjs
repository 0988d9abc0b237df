/** Names in code that do not name the thing, for the prose check: `own`, `whole`, `together` and `told`. */
import { extname } from 'node:path';
import { parse } from '@babel/parser';
import { PYTHON_TOKEN } from './comments.mjs';

const VAGUE = /\b(?:own|whole|together|told)\b/;
const VAGUE_NAME = new RegExp(`^${VAGUE.source}$`);
const SCRIPTS = new Set(['.ts', '.tsx', '.mjs', '.cjs', '.js']);
/**
 * Codecs of stored formats, which have a field of such a name, and their tests; networks whose parameters have such a
 * name in the graphs of the bundles, from which training goes on.
 */
const FORMATS = new Set([
  'src/stores/cameras/camera-state.ts',
  'test/stores/camera-state.test.ts',
  'training/net/check.py',
  'research/clevr/model.py',
]);

/**
 * @param {string} path relative to the repository @param {string} source
 * @returns {{ line: number, message: string }[]}
 */
export function vagueIdentifiers(path, source) {
  const extension = extname(path);
  if (FORMATS.has(path) || !VAGUE.test(source)) return [];
  if (extension === '.py') return vagueInPython(source);
  if (!SCRIPTS.has(extension)) return [];
  const plugins = extension === '.tsx' ? ['typescript', 'jsx'] : ['typescript'];
  const { tokens } = parse(source, { sourceType: 'unambiguous', plugins, tokens: true });
  return tokens
    .filter(({ type, value }) => type.label === 'name' && VAGUE_NAME.test(value))
    .map(({ value, loc }) => finding(value, loc.start.line));
}

function vagueInPython(source) {
  // Line breaks stay, so that lines keep their numbers.
  const code = source.replace(PYTHON_TOKEN, (token) => token.replace(/[^\n]/g, ' '));
  return code
    .split('\n')
    .flatMap((text, i) => [...text.matchAll(new RegExp(VAGUE, 'g'))].map(([name]) => finding(name, i + 1)));
}

const finding = (name, line) => ({ line, message: `the identifier \`${name}\`: name the thing` });
