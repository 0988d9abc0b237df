/** Build of the console into dist/console. The names of the files contain their hash, so browsers may keep them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import sharp from 'sharp';
import { defineConfig } from 'vite';

const ROOT = import.meta.dirname ?? new URL('.', import.meta.url).pathname;
const COMPRESSED = /\.(?:js|css|svg)$/;

/** Writes each text file also compressed, so that the service compresses nothing at run time. */
const compressed = {
  name: 'compressed',
  writeBundle({ dir }, bundle) {
    for (const name of Object.keys(bundle).filter((file) => COMPRESSED.test(file))) {
      const bytes = readFileSync(join(dir, name));
      writeFileSync(join(dir, `${name}.gz`), gzipSync(bytes, { level: 9 }));
      writeFileSync(join(dir, `${name}.br`), brotliCompressSync(bytes));
    }
  },
};

/** Icons of the installed page, from the drawing of the mark: name, side in px, and share of the side that it fills. */
const ICONS = [
  ['180', 180, 1],
  ['192', 192, 1],
  ['512', 512, 1],
  // Systems cut a circle or a rounded square out of it.
  ['maskable', 512, 0.7],
];
const GROUND = '#00707d';

const icons = {
  name: 'icons',
  async writeBundle({ dir }) {
    for (const [name, side, share] of ICONS) {
      const drawn = await sharp(join(dir, 'icons/mark.svg'), { density: 1200 })
        .resize(Math.round(side * share))
        .toBuffer();
      await sharp({ create: { width: side, height: side, channels: 4, background: share < 1 ? GROUND : '#0000' } })
        .composite([{ input: drawn }])
        .png({ palette: true })
        .toFile(join(dir, `icons/${name}.png`));
    }
  },
};

export default defineConfig({
  root: ROOT,
  // The service may be below a path of its host, which is known in the browser alone.
  base: './',
  plugins: [compressed, icons],
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  build: {
    outDir: resolve(ROOT, '../dist/console'),
    emptyOutDir: true,
    target: 'es2022',
    // A preload of modules would need an inline script, which the policy of the page forbids.
    modulePreload: { polyfill: false },
    // The policy allows pictures in the page, but each file should have a name of its own.
    assetsInlineLimit: 0,
  },
});
