/**
 * Part of `npm run build:program`: compiles lab/ to dist/lab, beside the program that it imports, so that `../src/` of
 * its imports becomes `../`. Types are checked by `npm run typecheck`. An image has no lab/ and builds without it.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { transformFileSync } from '@swc/core';
import { ROOT } from './lib/shell.mjs';

const LAB = join(ROOT, 'lab');
const OUT = join(ROOT, 'dist/lab');
const OPTIONS = { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'es6' } };

rmSync(OUT, { recursive: true, force: true });
for (const name of existsSync(LAB) ? readdirSync(LAB, { recursive: true }) : []) {
  if (!name.endsWith('.ts')) continue;
  const path = join(OUT, name.replace(/\.ts$/, '.js'));
  mkdirSync(dirname(path), { recursive: true });
  const { code } = transformFileSync(join(LAB, name), OPTIONS);
  writeFileSync(path, code.replace(/(from '(?:\.\.\/)+)src\//g, '$1'));
}
