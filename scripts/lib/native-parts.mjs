/** Packages with a part that is compiled for each platform, which an installation can lack. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, run } from './shell.mjs';

/** Package -> a text of the errors that name its missing part. */
const PARTS = { sharp: /\bsharp\b/, 'onnxruntime-node': /onnxruntime/ };
const NOT_LOADED = /Could not load|Cannot find (?:module|package)|cannot open shared object|dlopen|ERR_DLOPEN_FAILED/;

/**
 * @param error of an import, or its text
 * @returns one line: the package whose part is missing, and the command that installs it; undefined: another error
 */
export function missingPart(error) {
  const text = String(error?.stack ?? error);
  if (!NOT_LOADED.test(text)) return undefined;
  const name = Object.keys(PARTS).find((one) => PARTS[one].test(text));
  if (name === undefined) return undefined;
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const here = `${process.platform}-${process.arch}, Node ${process.versions.node}`;
  return `${name} has no part for this system (${here}): npm install --include=optional ${name}@${dependencies[name]}`;
}

/** @returns as missingPart, after an attempt to load each package in another process */
export async function nativeFault() {
  const names = JSON.stringify(Object.keys(PARTS));
  const { ok, output } = await run(process.execPath, ['-e', `${names}.forEach((name) => require(name))`]);
  return ok ? undefined : missingPart(output);
}
