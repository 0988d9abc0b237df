/**
 * Builds the templates of the documents into dist/documents: one HTML file for each, with its script and its style in
 * it. Its policy allows these two by their hashes, pictures of one kind, and nothing else.
 */
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { build } from 'vite';
import settings from './vite.config.mjs';

/** Sources of the pictures of each document. */
const PICTURES = { report: 'data:', evidence: "'self' file: data:", brief: 'data:' };
const PAGE = 'document.html';

const sha256 = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Puts the script and the style into the page, and gives it the name of the document. */
const inlined = (name) => ({
  name: 'inlined',
  enforce: 'post',
  transformIndexHtml: { order: 'pre', handler: (html) => html.replace('{{name}}', name) },
  generateBundle(_options, bundle) {
    const files = Object.values(bundle);
    const textOf = (ending) => {
      const found = files.filter(({ fileName }) => fileName.endsWith(ending));
      if (found.length !== 1) throw new Error(`${name} has ${found.length} files *${ending}, expected one`);
      delete bundle[found[0].fileName];
      return found[0].code ?? String(found[0].source);
    };
    const [script, style, page] = [textOf('.js').trim(), textOf('.css').trim(), textOf('.html')];
    if (/<\/(script|style)|<!--/i.test(script + style)) throw new Error(`${name} has text that ends its own element`);
    const policy = [
      ...["default-src 'none'", `script-src ${sha256(script)}`, `style-src ${sha256(style)}`],
      ...[
        `img-src ${PICTURES[name]}`,
        ...(name === 'report' ? ["media-src 'self' file:"] : []),
        "base-uri 'none'",
        "form-action 'none'",
      ],
    ].join('; ');
    const source = page
      .replace(/<script [^>]*src=[^>]*><\/script>/, () => `<script type="module">${script}</script>`)
      .replace(/<link [^>]*rel="stylesheet"[^>]*>/, () => `<style>${style}</style>`)
      .replace('{{policy}}', policy)
      .replace('<html lang="en">', '<html lang="{{locale}}">');
    this.emitFile({ type: 'asset', fileName: `${name}.html`, source });
  },
});

for (const name of Object.keys(PICTURES)) {
  await build({
    ...settings,
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    plugins: [inlined(name)],
    build: {
      ...settings.build,
      outDir: resolve(import.meta.dirname, '../dist/documents'),
      emptyOutDir: false,
      rollupOptions: { input: resolve(import.meta.dirname, PAGE) },
    },
  });
}
