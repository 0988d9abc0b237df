/** Formatter of the report for a terminal, at most 100 columns wide. */
import { FALSE_ALARM_RATES } from './alarms.js';
import type { Facts } from './facts.js';
import type { CaptionerFigures, DetectorFigures, NuisanceResult, Report, SentenceFigures } from './report.js';
import { RECALL_AT } from './retrieval.js';
import type { Proportion } from './statistics.js';

const WIDTH = 100;
const LABEL = 34;
const COLUMN = 11;
const COLUMNS = 6;

/** null if there is no figure */
type Cell = string | null;
type Row<T> = readonly [label: string, of: (subject: T) => Cell];

const percent = (share: Proportion | undefined): Cell =>
  share === undefined || share.rate === null ? null : `${(100 * share.rate).toFixed(1)} %`;
const times100 = (value: number | null | undefined): Cell => plain(value == null ? null : 100 * value, 1);
const plain = (value: number | null | undefined, digits: number): Cell =>
  value === null || value === undefined ? null : value.toFixed(digits);

const WORDS: readonly Row<SentenceFigures>[] = (['all', 'changed'] as const).flatMap(
  (group): Row<SentenceFigures>[] => [
    [`CIDEr-D, ${group} pairs`, ({ words }) => times100(words[group]?.ciderD)],
    [`BLEU-4, ${group} pairs`, ({ words }) => times100(words[group]?.bleu[3])],
    [`ROUGE-L, ${group} pairs`, ({ words }) => times100(words[group]?.rougeL)],
  ],
);

const FACT_LABELS: Readonly<Record<keyof Facts, string>> = {
  saysChange: 'says a change where there is one',
  kind: 'kind',
  kindStrict: 'kind, as labelled',
  noun: 'noun (and its direction)',
  nounStrict: 'noun, same or synonym',
  nounClass: 'person/vehicle/animal/object',
  colour: 'colour',
  colourWhereSaid: 'colour, where one is said',
  place: 'place',
  placeWhereSaid: 'place, where one is said',
  becomes: 'new colour or material',
  inverted: 'inverted direction',
  objectsNamed: 'changed things that are named',
  claimsTrue: 'things said that are true',
  firstClauseTrue: 'first clause true',
  secondClauseTrue: 'second clause true',
  thirdClauseTrue: 'third clause true',
  kindAgrees: 'kind agrees with the sentence',
  whollyTrue: 'wholly true',
  open: 'leaves open which thing it is',
  useless: 'useless: names nothing',
};
const FACTS: readonly Row<SentenceFigures>[] = [
  ...Object.entries(FACT_LABELS).map(
    ([name, label]): Row<SentenceFigures> => [label, ({ facts }) => percent(facts[name as keyof Facts])],
  ),
  ['false clauses per answer', ({ falseClauses }) => plain(falseClauses.perAnswer, 2)],
];

/** The alarms and maps of a captioner, or of a detector, which has fewer figures. */
interface Detection extends DetectorFigures {
  readonly captioner?: CaptionerFigures;
}

const DETECTION: readonly Row<Detection>[] = [
  ['AUROC, change against none', ({ separation }) => plain(separation.auroc, 4)],
  ...FALSE_ALARM_RATES.map(
    (rate, i): Row<Detection> => [`recall at ${100 * rate} % false alarms`, (row) => recallOf(row, i)],
  ),
  ['pointing game', ({ game }) => percent(game)],
  ['maps empty on unchanged pairs', ({ captioner }) => percent(captioner?.place.emptyWhenUnchanged)],
  ['PG+ (both)', ({ captioner }) => percent(captioner?.place.gamePlus)],
  ['IoU of regions and boxes', ({ captioner }) => plain(captioner?.place.meanIou, 3)],
  ['verdict right', ({ captioner }) => percent(captioner?.alarms.verdict)],
  ['changes found', ({ captioner }) => percent(captioner?.alarms.found)],
  ['false alarms', ({ captioner }) => percent(captioner?.alarms.falseAlarms)],
  ['  a camera and day, 1 pair a min', ({ captioner }) => plain(captioner?.alarms.falseAlarms.perDay, 1)],
  ['    exact 95 % interval, from', ({ captioner }) => plain(captioner?.alarms.falseAlarms.perDayInterval[0], 1)],
  ['    to', ({ captioner }) => plain(captioner?.alarms.falseAlarms.perDayInterval[1], 1)],
  ['calibration error (10 bins)', ({ captioner }) => plain(captioner?.alarms.calibration.expectedError, 3)],
  ['Brier score', ({ captioner }) => plain(captioner?.alarms.calibration.brier, 3)],
];

/** @param rate index of FALSE_ALARM_RATES */
function recallOf({ separation }: DetectorFigures, rate: number): Cell {
  const recall = separation.recall[rate];
  return recall ? `${(100 * recall.recall).toFixed(1)} %` : null;
}

export function formatReport(report: Report): string {
  const { pairs, captioner, baselines } = report;
  const constants = [report.constant, report.constantOfChanged].filter((constant) => constant !== null);
  const sentences = [captioner, report.people, ...constants, ...baselines];
  const detections: Detection[] = [
    ...[captioner, ...baselines].map((c) => ({ name: c.name, separation: c.alarms, game: c.place.game, captioner: c })),
    ...report.detectors,
  ];
  const onePair = (100 / Math.max(1, pairs.unchanged)).toFixed(2);
  const sections = [
    `${pairs.all} pairs, ${pairs.changed} changed, ${pairs.unchanged} unchanged`,
    section('What it says of them', WORDS, sentences),
    section('Whether that is true (of changed pairs; the thing said first)', FACTS, sentences),
    section('What it sees', DETECTION, detections),
    `At ${pairs.unchanged} unchanged pairs a rate below ${onePair} % means: not one false alarm.`,
    formatParts(report),
    report.nuisances.length > 0 ? formatNuisances(report.nuisances) : '',
    formatSwapped(report),
    formatRetrieval(report),
    formatTimings(captioner),
    sentences.flatMap(({ name, note }) => (note === undefined ? [] : [wrapped(`${name}: ${note}`)])).join('\n'),
  ];
  return `${sections.filter((text) => text !== '').join('\n\n')}\n`;
}

/** Leaves out rows without any figure, and begins a new table after COLUMNS columns. */
function section<T extends { readonly name: string }>(
  title: string,
  rows: readonly Row<T>[],
  subjects: readonly T[],
): string {
  const tables: string[] = [];
  for (let from = 0; from < subjects.length; from += COLUMNS) {
    const shown = subjects.slice(from, from + COLUMNS);
    const lines = rows
      .map(([label, of]) => [label, shown.map(of)] as const)
      .filter(([, cells]) => cells.some((cell) => cell !== null))
      .map(([label, cells]) => line(label, cells));
    tables.push(
      [
        line(
          title.length < LABEL ? title : '',
          shown.map(({ name }) => name),
        ),
        ...lines,
      ].join('\n'),
    );
  }
  return title.length < LABEL ? tables.join('\n\n') : [title, ...tables].join('\n');
}

const line = (label: string, cells: readonly Cell[]): string =>
  (label.slice(0, LABEL).padEnd(LABEL) + cells.map((cell) => cut(cell ?? '-').padStart(COLUMN)).join('')).trimEnd();
const cut = (text: string): string => (text.length < COLUMN ? text : `${text.slice(0, COLUMN - 2)}~`);

/** Breaks lines between words before WIDTH columns, and indents all but the first. */
const wrapped = (text: string): string =>
  text.replace(new RegExp(`(.{1,${WIDTH - 3}})(?: |$)`, 'g'), '$1\n  ').trimEnd();

function formatParts({ parts }: Report): string {
  const header = line('By kind, nuisance and view', ['pairs', 'verdict', 'noun', 'colour', 'pointing', 'CIDEr-D']);
  return [
    header,
    ...parts.map(({ by, name, pairs, verdict, facts, place, words }) =>
      line(`${by}: ${name}`, [
        String(pairs),
        percent(verdict),
        percent(facts.noun),
        percent(facts.colour),
        percent(place.game),
        times100(words?.ciderD),
      ]),
    ),
  ].join('\n');
}

function formatNuisances(nuisances: readonly NuisanceResult[]): string {
  const names = nuisances[0]?.rows.map(({ name }) => name) ?? [];
  const table = (title: string, cell: (row: DetectorFigures) => Cell) => [
    line(title, names),
    ...nuisances.map(({ nuisance, rows }) => line(`  ${nuisance}`, rows.map(cell))),
  ];
  return [
    ...table('Made nuisances: AUROC', ({ separation }) => plain(separation.auroc, 4)),
    ...table('recall at 5 % false alarms', (row) => recallOf(row, 0)),
  ].join('\n');
}

function formatSwapped({ swapped }: Report): string {
  if (swapped === null) return '';
  const row = (label: string, share: Proportion) => line(label, [percent(share), `${share.hits} of ${share.of}`]);
  return [
    line('Changed pairs, frames swapped', ['rate', 'cases']),
    row('a change in both directions', swapped.answered),
    row('kind reversed', swapped.kindReversed),
    row('same nouns', swapped.sameNouns),
    row('same, wider or narrower nouns', swapped.alikeNouns),
  ].join('\n');
}

function formatRetrieval({ retrieval }: Report): string {
  if (retrieval === null) return '';
  const { queries, gallery, chance, rows } = retrieval;
  return [
    line(
      'Search by the references',
      RECALL_AT.map((k) => `R@${k}`),
    ),
    line('  by chance', chance.map(times100)),
    ...rows.map(({ name, recall }) => line(`  by ${name}`, recall.map(percent))),
    `${queries} references of changed pairs among all ${gallery} pairs`,
  ].join('\n');
}

function formatTimings({ timings }: CaptionerFigures): string {
  const stages = Object.entries(timings).map(([stage, ms]) => `${stage} ${ms.toFixed(0)}`);
  return stages.length === 0 ? '' : `Mean ms a pair: ${stages.join(', ')}`;
}
