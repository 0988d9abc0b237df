/**
 * Writer of the documented example: runs the service on the example pair, and writes the caption into README.md, the
 * answer into docs/answer.md and the picture of the heatmaps into docs/images/example.png. Run it when the default
 * bundle changes.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { compareExample, EXAMPLE } from './lib/example.mjs';
import { askInstance } from './lib/instance.mjs';
import { ROOT, run, runMain, Stop } from './lib/shell.mjs';

const PICTURE = 'docs/images/example.png';
const PICTURE_WIDTH = 1100;

async function main() {
  const comparison = await askService();
  await drawPicture();
  writeSection(
    'README.md',
    'example',
    `> **${comparison.caption}**\n\n![The two frames with their heatmaps](${PICTURE})`,
  );
  writeSection('docs/answer.md', 'answer', `\`\`\`json\n${shortened(comparison)}\n\`\`\``);
  console.log(`"${comparison.caption}"\nWritten to README.md, docs/answer.md and ${PICTURE}`);
}

async function askService() {
  const dataDir = mkdtempSync(join(tmpdir(), 'sd-example-'));
  const up = spawn(process.execPath, [join(ROOT, 'scripts/up.mjs')], {
    cwd: ROOT,
    env: { ...process.env, PORT: '0', DATA_DIR: dataDir, PUBLIC_URL: 'http://127.0.0.1:8080' },
  });
  let printed = '';
  up.stdout.on('data', (text) => {
    printed += text;
  });
  up.stderr.on('data', (text) => {
    printed += text;
  });
  const ended = new Promise((resolve) => up.once('close', resolve));
  try {
    while (!printed.includes('Up after')) {
      if (up.exitCode !== null) throw new Stop(printed);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const { url } = await askInstance(dataDir);
    const key = readFileSync(join(dataDir, 'first-key'), 'utf8').trim();
    return (await compareExample(url, { authorization: `Bearer ${key}` })).comparison;
  } finally {
    up.kill('SIGTERM');
    await ended;
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function drawPicture() {
  const file = join(mkdtempSync(join(tmpdir(), 'sd-example-')), 'heatmaps.png');
  const args = ['dist/cli/main.js', 'compare', EXAMPLE.before, EXAMPLE.after, '--heatmap', file];
  const { ok, output } = await run(process.execPath, args);
  if (!ok) throw new Stop(output);
  mkdirSync(join(ROOT, 'docs/images'), { recursive: true });
  await sharp(file).resize(PICTURE_WIDTH).png({ palette: true, quality: 90, effort: 10 }).toFile(join(ROOT, PICTURE));
  rmSync(file);
}

/** The answer with small objects on one line, and links without their signatures. */
function shortened(comparison) {
  const copy = structuredClone(comparison);
  for (const links of [copy.frames, copy.heatmaps]) {
    for (const link of Object.values(links ?? {})) link.url = link.url.replace(/\?.*$/, '?exp=...&sig=...');
  }
  return JSON.stringify(copy, null, 2).replace(/\{[^{}[\]]*\}/g, (object) => object.replace(/\s*\n\s*/g, ' '));
}

function writeSection(file, name, content) {
  const [begin, end] = [`<!-- ${name}: written by \`node scripts/write-example.mjs\` -->`, `<!-- /${name} -->`];
  const text = readFileSync(join(ROOT, file), 'utf8');
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${file} has no section from ${begin} to ${end}`);
  writeFileSync(join(ROOT, file), `${text.slice(0, from + begin.length)}\n${content}\n${text.slice(to)}`);
}

await runMain(main);
