/** The hand-made bundle of test/fixtures/make-tiny-bundle.py, and edited copies of it. */
import { createHash } from 'node:crypto';
import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CheckManifest } from '../../src/model/check-schema.js';

export const FIXTURES = fileURLToPath(new URL('../fixtures', import.meta.url));
export const TINY = join(FIXTURES, 'bundle-tiny');

type Json = Record<string, unknown>;

const tinyManifest = async (): Promise<Json> => JSON.parse(await readFile(join(TINY, 'manifest.json'), 'utf8')) as Json;

/** Copies the bundle into a new models folder. @param edit changes the parsed manifest in place */
export async function copyOfTiny(
  edit: (manifest: Json) => void | Promise<void>,
  name = 'bundle-tiny',
): Promise<{ modelsDir: string; directory: string }> {
  const modelsDir = await mkdtemp(join(tmpdir(), 'sd-models-'));
  const directory = join(modelsDir, name);
  await cp(TINY, directory, { recursive: true });
  const manifest = await tinyManifest();
  await edit(manifest);
  await writeFile(join(directory, 'manifest.json'), JSON.stringify(manifest));
  return { modelsDir, directory };
}

const checkKeys = async (): Promise<Json> => JSON.parse(await readFile(join(TINY, 'check.json'), 'utf8')) as Json;
/** `check` of the manifest, of the hand-made truth check. */
export const tinyCheck = async (): Promise<CheckManifest> => (await checkKeys()).check as CheckManifest;

/** Adds the hand-made truth check, whose graph lies in the bundle's folder. */
export async function addCheck(manifest: Json): Promise<void> {
  const { graph, sha256: hash, check } = await checkKeys();
  Object.assign(manifest, { check });
  Object.assign(manifest.graphs as Json, { check: graph });
  Object.assign(manifest.files as Json, { 'check.onnx': hash });
}

/** Sets the value at a path such as 'input.width'; undefined removes the key. */
export function put(manifest: Json, path: string, value: unknown): void {
  const keys = path.split('.');
  const last = keys.pop() as string;
  const parent = keys.reduce<Json>((node, key) => node[key] as Json, manifest);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
}

export const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');
