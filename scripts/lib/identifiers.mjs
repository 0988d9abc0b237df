/** Names in code that do not name the thing, for the prose check: `own`, `whole`, `together` and `told`. */
import { extname } from 'node:path';
import { parse } from '@babel/parser';

const VAGUE = /\b(?:own|whole|together|told)\b/;
const VAGUE_NAME = new RegExp(`^${VAGUE.source}$`);
const SCRIPTS = new Set(['.ts', '.tsx', '.mjs', '.cjs', '.js']);
/** Codecs of stored formats, which have a field of such a name, and their tests. */
const FORMATS = new Set(['src/stores/camera-state.ts', 'test/stores/camera-state.test.ts']);

/**
 * @param {string} path relative to the repository @param {string} source
 * @returns {{ line: number, message: string }[]}
 */
export function vagueIdentifiers(path, source) {
  const extension = extname(path);
  if (!SCRIPTS.has(extension) || FORMATS.has(path) || !VAGUE.test(source)) return [];
  const plugins = extension === '.tsx' ? ['typescript', 'jsx'] : ['typescript'];
  const { tokens } = parse(source, { sourceType: 'unambiguous', plugins, tokens: true });
  return tokens
    .filter(({ type, value }) => type.label === 'name' && VAGUE_NAME.test(value))
    .map(({ value, loc }) => ({ line: loc.start.line, message: `the identifier \`${value}\`: name the thing` }));
}
