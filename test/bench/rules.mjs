/**
 * `npm run bench -- rules --data=FOLDER [--write]`: how well the sentences of severity rules single out changes, on the
 * labelled pairs of dev_pairs and dev2_pairs. Beside the facts, which rules use, stands the truth check of the same
 * bundle, which was asked the same sentences (ADR 25). A pair counts as named by a sentence if one of its changed
 * things fits the sentence.
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { thingsOf } from '../../dist/camera/changes/observation.js';
import { probabilityOf } from '../../dist/camera/changes/rule-sentences.js';
import { startProgress } from '../../dist/cli/progress.js';
import { auroc } from '../../dist/lab/figures/statistics.js';
import { openPairs } from '../../dist/lab/run/frames.js';
import { nounFit } from '../../dist/language/people/nouns.js';
import { readRuleSentence } from '../../dist/language/people/rule-sentence.js';
import { Pipeline } from '../../dist/pipeline/compare.js';
import { loadConfig } from '../../dist/process/config.js';
import { createLogger } from '../../dist/process/logger.js';
import { dataFolder, readOptions } from '../../scripts/lib/options.mjs';
import { report } from './lib/report.mjs';

const { values } = readOptions({ data: { type: 'string' }, write: { type: 'boolean' } });
const LEAST = 0.5;
const DIRECTION_OF = { appear: 'appear', disappear: 'disappear', move: 'move' };
const VERBS = ['has appeared', 'has left', 'has moved'];
const SENTENCES = ['a person', 'a vehicle', 'a car', 'an object'].flatMap((thing) =>
  VERBS.map((verb) => {
    const text = `${thing} ${verb}`;
    return { text, said: readRuleSentence(text, []).said };
  }),
);

const isTrueOf = ({ things: [thing], kind }, { objects }) =>
  objects.some(({ noun, direction }) => {
    const fits = noun !== null && ['same', 'wider'].includes(nounFit(thing.noun, noun));
    return fits && direction === DIRECTION_OF[kind];
  });

async function judged(pipeline, bytes) {
  const { finding } = await pipeline.compare(bytes);
  const things = thingsOf(finding);
  const byFacts = SENTENCES.map(({ said }) => Math.max(0, ...things.map((thing) => probabilityOf(said, thing))));
  const byCheck = [];
  for (const { text } of SENTENCES) byCheck.push((await pipeline.ask(bytes, text)).p);
  return { byFacts, byCheck };
}

const percent = (part, total) => (total === 0 ? '-' : `${((100 * part) / total).toFixed(1)} % (${part}/${total})`);

function row(set, name, samples) {
  const of = (isTrue) => samples.filter((one) => one.isTrue === isTrue).map(({ p }) => p);
  const [yes, no] = [of(true), of(false)];
  const stated = (all) => all.filter((p) => p >= LEAST).length;
  const area = auroc(yes, no);
  return [
    set,
    name,
    percent(stated(yes), yes.length),
    percent(stated(no), no.length),
    percent(stated(yes), stated(yes) + stated(no)),
    area?.toFixed(3),
  ];
}

const config = loadConfig();
const logger = createLogger({ level: 'silent', name: 'bench' });
const pipeline = await Pipeline.start({ config, logger, onlyDefault: true, warmUp: false });
const rows = [];
for (const set of ['dev_pairs', 'dev2_pairs']) {
  const folder = await openPairs(join(dataFolder(values.data), set, 'pairs.ndjson'));
  const changed = folder.pairs.filter((pair) => pair.changed === true);
  const progress = startProgress(changed.length, 'pairs');
  const limit = pLimit(availableParallelism());
  const samples = await limit.map(changed, async (pair) => {
    const { byFacts, byCheck } = await judged(pipeline, await folder.read(pair));
    progress.step();
    return SENTENCES.map(({ said }, i) => ({ isTrue: isTrueOf(said, pair), facts: byFacts[i], check: byCheck[i] }));
  });
  progress.end();
  for (const way of ['facts', 'check']) {
    rows.push(
      row(
        set,
        way,
        samples.flat().map((one) => ({ isTrue: one.isTrue, p: one[way] })),
      ),
    );
  }
}
await pipeline.close();
report(
  'rules',
  'Sentences of severity rules: which changes they name',
  [
    ['pairs', 'by', 'true sentences that hold', 'false sentences that hold', 'right of those that hold', 'AUROC'],
    ...rows,
  ],
  [
    `${SENTENCES.length} sentences per changed pair, from "${SENTENCES[0].text}" to "${SENTENCES.at(-1).text}". A sentence holds from ${LEAST}.`,
    'Single frames: a camera takes the mean over the frames that show the change.',
  ],
);
