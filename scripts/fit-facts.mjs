/**
 * `node scripts/fit-facts.mjs PAIRS.ndjson [--bundle=NAME] [--write]`: fits the calibration of facts of a bundle
 * (`calibration.facts` of its manifest) on held-out pairs, each in both directions. The pairs are those of `python -m
 * training.worlds.surveillance.made_pairs`. Prints the calibration with how often it is right, and writes it into the
 * manifest with --write.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { startProgress } from '../dist/cli/progress.js';
import { loadConfig } from '../dist/config.js';
import { sharedArea } from '../dist/images.js';
import { createLogger } from '../dist/logger.js';
import { logitOf } from '../dist/logistic.js';
import { nounPhrasesOf } from '../dist/model/noun-phrase.js';
import { evidenceOf } from '../dist/pipeline/clause-probability.js';
import { Pipeline } from '../dist/pipeline/compare.js';
import { agreement, findPlace, findWay, sideOf, thirdOf } from '../dist/pipeline/place-facts.js';
import { fitLogistic } from './lib/logistic.mjs';
import { readOptions } from './lib/options.mjs';
import { runMain } from './lib/shell.mjs';

const { values, positionals } = readOptions(
  { bundle: { type: 'string' }, write: { type: 'boolean', default: false } },
  { arguments: ['PAIRS.ndjson'] },
);
const EVIDENCE = ['kind', 'move', 'twin', 'nothing', 'score', 'area'];
/** Share of the smaller box that a region and a thing have in common at least. */
const MIN_OVERLAP = 0.25;
const REVERSED = {
  appeared: 'disappeared',
  disappeared: 'appeared',
  'to the left': 'to the right',
  'to the right': 'to the left',
  'slightly to the left': 'slightly to the right',
  'slightly to the right': 'slightly to the left',
  closer: 'further away',
  'further away': 'closer',
  'towards the camera': 'away from the camera',
  'away from the camera': 'towards the camera',
};
const ACTION = { appear: 'appeared', disappear: 'disappeared', move: 'moved' };

/** The things of a pair, with boxes in fractions of the frame; `swapped`: as the reversed pair has them. */
const thingsOf = ({ objects }, { width, height }, swapped) =>
  objects.map(({ action: stated, places, count, boxes_before, boxes_after }) => {
    const came = boxes_before.length === 0 ? 'appeared' : 'disappeared';
    const action = stated === 'replaced' ? came : stated;
    const scaled = (boxes) =>
      boxes.map(([x, y, w, h]) => ({ x: x / width, y: y / height, width: w / width, height: h / height }));
    const reverse = (word) => (swapped ? (REVERSED[word] ?? word) : word);
    const [before, after] = [scaled(boxes_before), scaled(boxes_after)];
    return {
      ...{ action: reverse(action), places: places.map(reverse), count },
      boxes: swapped ? { before: after, after: before } : { before, after },
    };
  });

const shows = (thing, { side, box }) =>
  thing.boxes[side].some(
    (own) => sharedArea(own, box) > MIN_OVERLAP * Math.min(own.width * own.height, box.width * box.height),
  );
const isTrue = ({ kind, regions }, things) =>
  kind === 'replace'
    ? regions.every((region) =>
        things.some(
          (thing) => thing.action === (region.side === 'before' ? 'disappeared' : 'appeared') && shows(thing, region),
        ),
      )
    : things.some((thing) => thing.action === ACTION[kind] && regions.every((region) => shows(thing, region)));

const share = (outcomes) => Number(((outcomes.filter(Boolean).length + 1) / (outcomes.length + 2)).toFixed(3));
const rounded = (value) => Number(value.toFixed(3));

/** The claims of a statement, and whether they are true. */
function samplesOf(statement, things, names, ends, kinds) {
  const words = statement.clause.words.map(({ text }) => text);
  const at = statement.kind === 'move' ? findWay(words) : findPlace(words);
  const own = things.filter((thing) => statement.regions.every((region) => shows(thing, region)));
  const says = (phrase) => own.some(({ places }) => places.includes(phrase));
  const [phrase] = nounPhrasesOf(words);
  const stated = at && {
    phrase: words.slice(at.from, at.to).join(' '),
    logOdds: logitOf(statement.clause.words.slice(at.from, at.to).reduce((product, { score }) => product * score, 1)),
  };
  const side = statement.kind === 'move' ? sideOf(statement.regions) : null;
  return {
    clause: { evidence: evidenceOf(statement, names, ends, kinds), right: isTrue(statement, things) },
    ...(own.length === 0 || stated === null
      ? {}
      : {
          [statement.kind === 'move' ? 'way' : 'place']: {
            row: [stated.logOdds, ...(statement.kind === 'move' ? [agreement(stated.phrase, statement.regions)] : [])],
            right: says(stated.phrase),
          },
        }),
    ...(own.length === 0 || statement.kind === 'move' ? {} : { third: says(thirdOf(statement.regions.at(-1).box)) }),
    ...(own.length === 0 || side === null ? {} : { sideways: says(side) || says(`slightly ${side}`) }),
    ...(own.length === 0 || phrase === undefined
      ? {}
      : {
          [phrase.count === null ? 'one' : 'several']: own.some(({ count }) => count > 1) === (phrase.count !== null),
        }),
  };
}

await runMain(async () => {
  const [file] = positionals;
  const settings = loadConfig();
  const config = { ...settings, defaultModel: values.bundle ?? settings.defaultModel };
  const path = join(config.modelsDir, config.defaultModel, 'manifest.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  let described = null;
  const pipeline = await Pipeline.start({
    ...{ config, logger: createLogger({ level: 'silent', name: 'fit' }), onlyDefault: true, warmUp: false },
    onDescribed: (description, names) => {
      described = { description, names };
    },
  });
  const samples = [];
  const progress = startProgress(lines.length, 'pairs');
  for (const pair of lines.map((line) => JSON.parse(line))) {
    const [first, second] = ['before', 'after'].map((side) => readFileSync(resolve(dirname(file), pair[side])));
    const { width, height } = pair;
    for (const swapped of pair.objects.length === 0 ? [] : [false, true]) {
      described = null;
      await pipeline.compare(swapped ? { before: second, after: first } : { before: first, after: second });
      if (described === null) continue;
      const { description, names } = described;
      const things = thingsOf(pair, { width, height }, swapped);
      samples.push(
        ...description.statements.map((one) => samplesOf(one, things, names, description.ends, manifest.kinds)),
      );
    }
    progress.step();
  }
  progress.end();
  await pipeline.close();

  const of = (name) => samples.flatMap((sample) => sample[name] ?? []);
  const clauses = of('clause').filter(({ evidence }) => evidence !== undefined);
  const fitted = (rows, outcomes, ridge) => {
    const { weights, offset } = fitLogistic(rows, outcomes, ridge);
    return [...weights, offset].map(rounded);
  };
  const right = (cases) => cases.map((one) => one.right);
  const clause = fitted(
    clauses.map(({ evidence }) => EVIDENCE.map((name) => evidence[name])),
    right(clauses),
    1,
  );
  const [scale, offset] = fitted(
    of('place').map(({ row }) => row),
    right(of('place')),
    0.1,
  );
  const [wayScale, agrees, wayOffset] = fitted(
    of('way').map(({ row }) => row),
    right(of('way')),
    0.1,
  );
  const facts = {
    clause: Object.fromEntries([...EVIDENCE, 'offset'].map((name, i) => [name, clause[i]])),
    place: { scale, offset },
    way: { scale: wayScale, offset: wayOffset, agreement: agrees },
    ...Object.fromEntries(['third', 'sideways', 'one', 'several'].map((name) => [name, share(of(name))])),
  };
  console.log(JSON.stringify(facts, null, 2));
  for (const name of ['clause', 'place', 'way', 'third', 'sideways', 'one', 'several']) {
    const outcomes = of(name).map((one) => one.right ?? one);
    console.log(`${name}: ${outcomes.filter(Boolean).length} of ${outcomes.length} true`);
  }
  if (!values.write) return;
  const { counted } = manifest.calibration.facts ?? {}; // of fit-counted.mjs
  const calibration = { ...manifest.calibration, facts: { ...facts, ...(counted && { counted }) } };
  writeFileSync(path, `${JSON.stringify({ ...manifest, calibration }, null, 1)}\n`);
});
