/**
 * Pins the base images of the Dockerfiles and the images of the compose files: asks the registries for the digest that
 * each tag has now, and writes `name:tag@sha256:...`. A second run changes only what the registries changed.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { readOptions } from './lib/options.mjs';
import { pin } from './lib/registry.mjs';
import { ROOT, runMain, Stop } from './lib/shell.mjs';

const { values } = readOptions({ registry: { type: 'string' }, root: { type: 'string' } });
/** Folder with the files; tests give another. */
const root = values.root ?? ROOT;

/** Names the images of other projects in a Dockerfile; stages that it builds are none. */
function imagesOfDockerfile(text) {
  const stages = new Set(['scratch']);
  const images = [];
  for (const [, image, stage] of text.matchAll(/^FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?/gim)) {
    if (!stages.has(image)) images.push(image);
    if (stage !== undefined) stages.add(stage);
  }
  return images;
}

/** Names the images that a compose file does not build itself. */
const imagesOfCompose = (text) =>
  Object.values(parse(text, { merge: true, logLevel: 'error' }).services ?? {})
    .filter(({ image, build }) => image !== undefined && build === undefined)
    .map(({ image }) => image);

/** @returns {{ file: string, text: string, images: string[] }[]} */
function findImages() {
  const inDeploy = existsSync(join(root, 'deploy')) ? readdirSync(join(root, 'deploy')).sort() : [];
  return ['Dockerfile', ...inDeploy.map((name) => `deploy/${name}`)]
    .filter((file) => /(^|\/)(Dockerfile[^/]*|compose[^/]*\.yaml)$/.test(file))
    .filter((file) => existsSync(join(root, file)))
    .map((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      const images = file.endsWith('.yaml') ? imagesOfCompose(text) : imagesOfDockerfile(text);
      return { file, text, images: [...new Set(images)] };
    });
}

async function main() {
  const files = findImages();
  const images = [...new Set(files.flatMap((file) => file.images))];
  if (images.length === 0) throw new Stop(`${root} has no images to pin`);
  // All digests are known before any file is written.
  const pinned = new Map(await Promise.all(images.map(async (image) => [image, await pin(image, values.registry)])));
  let changes = 0;
  for (const { file, text, images: named } of files) {
    const changed = named.filter((image) => pinned.get(image) !== image);
    if (changed.length === 0) continue;
    // The longest first: one image may be the beginning of another.
    const pattern = new RegExp(`(?<=\\s)(?:${changed.sort().reverse().map(escaped).join('|')})(?=\\s|$)`, 'g');
    writeFileSync(
      join(root, file),
      text.replace(/^(FROM|\s*image:)\s.*$/gim, (line) => line.replace(pattern, (image) => pinned.get(image))),
    );
    for (const image of changed) console.log(`${file}: ${image} -> ${pinned.get(image)}`);
    changes += changed.length;
  }
  console.log(`${images.length} images, ${changes} changes`);
}

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

await runMain(main);
