/** Packages that an inference thread loads: every one is loaded per thread, before its first answer. */
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** @returns the packages that a compiled file and everything it imports load */
function packagesOf(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  const imports = [...readFileSync(file, 'utf8').matchAll(/^(?:import|export) (?:[^;'"]* from )?['"]([^'"]+)['"];/gm)];
  return imports.flatMap(([, name = '']) =>
    name.startsWith('.') ? packagesOf(join(dirname(file), name), seen) : name.startsWith('node:') ? [] : [name],
  );
}

it('an inference thread loads no package but ONNX Runtime: others took longer than opening the graphs', () => {
  expect(new Set(packagesOf(resolve('dist/inference/thread.js')))).toEqual(new Set(['onnxruntime-node']));
});
