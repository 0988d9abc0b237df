/**
 * `node scripts/find-mistakes.mjs --set=PAIRS.ndjson=PREDICTIONS.ndjson [--set=...] --out=MISTAKES.ndjson`: writes the
 * answers that are wrong, with the kinds of their mistakes (lab/figures/mistakes.ts), and prints how many answers
 * have each. Pairs that `python -m training.worlds pairs` wrote also get a table per pack of sprites.
 * The file is the input of `python -m training.worlds mistakes`, which draws them.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import sharp from 'sharp';
import { facts } from '../dist/lab/figures/facts.js';
import { MISTAKES, mistakesOf } from '../dist/lab/figures/mistakes.js';
import { ndjson, normalise, parsePairs } from '../dist/lab/figures/pairs.js';
import { alignPredictions, parsePredictions } from '../dist/lab/figures/predictions.js';
import { readOptions } from './lib/options.mjs';
import { runMain, Stop } from './lib/shell.mjs';

const { values } = readOptions({ set: { type: 'string', multiple: true }, out: { type: 'string' } });

/** The pair with its boxes in fractions of its frames, whose size in pixels is that of the files. */
async function inFractions(pair, folder) {
  const [before, after] = await Promise.all(
    [pair.frames.before, pair.frames.after].map((file) => sharp(join(folder, file)).metadata()),
  );
  return normalise(pair, { before, after });
}

/** @returns per pair of the set: the pair, the packs of its changed things, the answer and its mistakes */
async function judgeSet(given) {
  const [pairsFile, predictionsFile, ...rest] = given.split('=');
  if (!predictionsFile || rest.length > 0)
    throw new Stop(`--set=${given}: expected --set=PAIRS.ndjson=PREDICTIONS.ndjson`);
  const text = readFileSync(pairsFile, 'utf8');
  const pairs = await Promise.all(parsePairs(text, pairsFile).map((pair) => inFractions(pair, dirname(pairsFile))));
  const predictions = alignPredictions(
    pairs,
    parsePredictions(readFileSync(predictionsFile, 'utf8'), predictionsFile),
    predictionsFile,
  );
  const packs = ndjson(text, pairsFile).map(({ value }) => [
    ...new Set((value.objects ?? []).flatMap((thing) => thing.packs ?? [])),
  ]);
  return pairs.map((pair, i) => ({
    ...{ pair, packs: packs[i], answer: predictions[i], pairsFile: resolve(pairsFile) },
    mistakes: mistakesOf(pair, predictions[i].verdict, predictions[i]),
  }));
}

function printCounts(judged) {
  const wrong = judged.filter(({ mistakes }) => mistakes.length > 0).length;
  console.log(`${judged.length} pairs, ${wrong} answers with a mistake`);
  for (const mistake of MISTAKES) {
    const count = judged.filter(({ mistakes }) => mistakes.includes(mistake)).length;
    console.log(`  ${mistake.padEnd(14)} ${count}`);
  }
}

/** Kind, noun and colour of the changed pairs whose changed things are all of one pack. */
function printPacks(judged) {
  const names = [...new Set(judged.flatMap(({ packs }) => packs))].sort();
  for (const name of names) {
    const ofPack = judged.filter(({ packs }) => packs.length === 1 && packs[0] === name);
    const rates = facts(
      ofPack.map(({ pair }) => pair),
      ofPack.map(({ answer }) => answer),
    );
    const found = ofPack.filter(({ mistakes }) => !mistakes.includes('missed')).length;
    const shown = ['kind', 'noun', 'nounClass', 'colourWhereSaid', 'claimsTrue', 'objectsNamed'].map(
      (key) => `${key} ${rates[key].hits}/${rates[key].of}`,
    );
    console.log(`${name}: ${ofPack.length} changed pairs, found ${found}/${ofPack.length}, ${shown.join(', ')}`);
  }
}

runMain(async () => {
  if (values.set === undefined || values.out === undefined)
    throw new Stop('expected --set=PAIRS.ndjson=PREDICTIONS.ndjson and --out=MISTAKES.ndjson');
  const judged = (await Promise.all(values.set.map(judgeSet))).flat();
  const lines = judged
    .filter(({ mistakes }) => mistakes.length > 0)
    .map(({ pair, answer, mistakes, pairsFile }) => {
      const { verdict, kind, confidence, caption, regions } = answer;
      return JSON.stringify({ id: pair.id, pairs: pairsFile, mistakes, verdict, kind, confidence, caption, regions });
    });
  writeFileSync(values.out, `${lines.join('\n')}\n`);
  printCounts(judged);
  printPacks(judged.filter(({ pair }) => pair.changed));
});
