/** The report as text for people, at most 100 columns wide. */
import { FALSE_ALARM_RATES } from './alarms.js';
import type { Captioner, NuisanceResult, Report, Speaker } from './report.js';
import type { Proportion } from './statistics.js';

const WIDTH = 100;
const LABEL = 34;
const COLUMN = 11;
const COLUMNS = 6;

type Cell = string | null;
interface Row<T> {
  readonly label: string;
  readonly of: (subject: T) => Cell;
}

const percent = (share: Proportion): Cell =>
  share.rate === null ? null : `${(100 * share.rate).toFixed(1)} %`;
const times100 = (value: number | null | undefined): Cell =>
  value === null || value === undefined ? null : (100 * value).toFixed(1);
const plain = (value: number | null | undefined, digits: number): Cell =>
  value === null || value === undefined ? null : value.toFixed(digits);

const WORDS: readonly Row<Speaker>[] = (['all', 'changed'] as const).flatMap((group): Row<Speaker>[] => {
  const name = (metric: string) => `${metric}, ${group === 'all' ? 'all pairs' : 'changed pairs'}`;
  return [
    { label: name('CIDEr-D'), of: ({ words }) => times100(words[group]?.ciderD) },
    { label: name('BLEU-4'), of: ({ words }) => times100(words[group]?.bleu[3]) },
    { label: name('ROUGE-L'), of: ({ words }) => times100(words[group]?.rougeL) },
  ];
});

const FACTS: readonly Row<Speaker>[] = [
  { label: 'says a change where there is one', of: ({ facts }) => percent(facts.saysChange) },
  { label: 'kind', of: ({ facts }) => percent(facts.kind) },
  { label: 'kind, as labelled', of: ({ facts }) => percent(facts.kindStrict) },
  { label: 'noun (and its direction)', of: ({ facts }) => percent(facts.noun) },
  { label: 'noun, same or synonym', of: ({ facts }) => percent(facts.nounStrict) },
  { label: 'person/vehicle/animal/object', of: ({ facts }) => percent(facts.nounClass) },
  { label: 'colour', of: ({ facts }) => percent(facts.colour) },
  { label: 'colour, where one is said', of: ({ facts }) => percent(facts.colourWhereSaid) },
  { label: 'place', of: ({ facts }) => percent(facts.place) },
  { label: 'place, where one is said', of: ({ facts }) => percent(facts.placeWhereSaid) },
  { label: 'new colour or material', of: ({ facts }) => percent(facts.becomes) },
  { label: 'inverted direction', of: ({ facts }) => percent(facts.inverted) },
  { label: 'changed things that are named', of: ({ facts }) => percent(facts.objectsNamed) },
  { label: 'things said that are true', of: ({ facts }) => percent(facts.claimsTrue) },
];

/** What a captioner, a detector or both have. */
interface Seer {
  readonly name: string;
  readonly separation: Captioner['alarms'] | Report['detectors'][number]['separation'];
  readonly game: Proportion;
  readonly captioner?: Captioner;
}

const SIGHT: readonly Row<Seer>[] = [
  { label: 'AUROC, change against none', of: ({ separation }) => plain(separation.auroc, 4) },
  ...FALSE_ALARM_RATES.map(
    (rate, i): Row<Seer> => ({
      label: `recall at ${100 * rate} % false alarms`,
      of: ({ separation }) => {
        const recall = separation.recall[i];
        return recall ? `${(100 * recall.recall).toFixed(1)} %` : null;
      },
    }),
  ),
  { label: 'pointing game', of: ({ game }) => percent(game) },
  {
    label: 'maps empty on unchanged pairs',
    of: ({ captioner }) => (captioner ? percent(captioner.place.emptyWhenUnchanged) : null),
  },
  { label: 'PG+ (both)', of: ({ captioner }) => (captioner ? percent(captioner.place.gamePlus) : null) },
  { label: 'IoU of regions and boxes', of: ({ captioner }) => plain(captioner?.place.meanIou, 3) },
  { label: 'verdict right', of: ({ captioner }) => (captioner ? percent(captioner.alarms.verdict) : null) },
  { label: 'changes found', of: ({ captioner }) => (captioner ? percent(captioner.alarms.found) : null) },
  {
    label: 'false alarms',
    of: ({ captioner }) => (captioner ? percent(captioner.alarms.falseAlarms) : null),
  },
  {
    label: '  a camera and day, 1 pair a min',
    of: ({ captioner }) => plain(captioner?.alarms.falseAlarms.perDay, 1),
  },
  {
    label: '    exact 95 % interval, from',
    of: ({ captioner }) => plain(captioner?.alarms.falseAlarms.perDayInterval[0], 1),
  },
  { label: '    to', of: ({ captioner }) => plain(captioner?.alarms.falseAlarms.perDayInterval[1], 1) },
  {
    label: 'calibration error (10 bins)',
    of: ({ captioner }) => plain(captioner?.alarms.calibration.expectedError, 3),
  },
  { label: 'Brier score', of: ({ captioner }) => plain(captioner?.alarms.calibration.brier, 3) },
];

export function formatReport(report: Report): string {
  const { pairs, captioner, baselines } = report;
  const constants = [report.constant, report.constantOfChanged].filter((constant) => constant !== null);
  const speakers: Speaker[] = [captioner, report.people, ...constants, ...baselines];
  const seers: Seer[] = [
    ...[captioner, ...baselines].map((c) => ({
      name: c.name,
      separation: c.alarms,
      game: c.place.game,
      captioner: c,
    })),
    ...report.detectors,
  ];
  const sections = [
    `${pairs.all} pairs, ${pairs.changed} changed, ${pairs.unchanged} unchanged`,
    section('What it says of them', WORDS, speakers),
    section('Whether that is true (of changed pairs; the thing said first)', FACTS, speakers),
    section('What it sees', SIGHT, seers),
    `At ${report.pairs.unchanged} unchanged pairs a rate below ${(100 / Math.max(1, pairs.unchanged)).toFixed(2)} % means: not one false alarm.`,
    formatParts(report),
    report.nuisances.length > 0 ? formatNuisances(report.nuisances) : '',
    formatTimings(captioner),
    speakers
      .flatMap(({ name, note }) => (note === undefined ? [] : [wrapped(`${name}: ${note}`)]))
      .join('\n'),
  ];
  return `${sections.filter((text) => text !== '').join('\n\n')}\n`;
}

/** Rows that nobody has a figure for are left out; too many columns make a second table. */
function section<T extends { readonly name: string }>(
  title: string,
  rows: readonly Row<T>[],
  subjects: readonly T[],
): string {
  const tables: string[] = [];
  for (let from = 0; from < subjects.length; from += COLUMNS) {
    const shown = subjects.slice(from, from + COLUMNS);
    const lines = rows
      .map(({ label, of }) => ({ label, cells: shown.map(of) }))
      .filter(({ cells }) => cells.some((cell) => cell !== null))
      .map(({ label, cells }) => line(label, cells));
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
  (
    label.slice(0, LABEL).padEnd(LABEL) + cells.map((cell) => cut(cell ?? '-').padStart(COLUMN)).join('')
  ).trimEnd();
const cut = (text: string): string => (text.length < COLUMN ? text : `${text.slice(0, COLUMN - 2)}~`);

/** Broken between words before WIDTH columns; what follows is indented. */
const wrapped = (text: string): string =>
  text.replace(new RegExp(`(.{1,${WIDTH - 3}})(?: |$)`, 'g'), '$1\n  ').trimEnd();

function formatParts({ parts }: Report): string {
  const header = line('By kind, nuisance and view', [
    'pairs',
    'verdict',
    'noun',
    'colour',
    'pointing',
    'CIDEr-D',
  ]);
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
  const table = (title: string, cell: (row: NuisanceResult['rows'][number]) => Cell) => [
    line(title, names),
    ...nuisances.map(({ nuisance, rows }) => line(`  ${nuisance}`, rows.map(cell))),
  ];
  return [
    ...table('Made nuisances: AUROC', ({ separation }) => plain(separation.auroc, 4)),
    ...table('recall at 5 % false alarms', ({ separation }) => {
      const recall = separation.recall[0];
      return recall ? `${(100 * recall.recall).toFixed(1)} %` : null;
    }),
  ].join('\n');
}

function formatTimings({ timings }: Captioner): string {
  const stages = Object.entries(timings).map(([stage, ms]) => `${stage} ${ms.toFixed(0)}`);
  return stages.length === 0 ? '' : `Mean ms a pair: ${stages.join(', ')}`;
}
