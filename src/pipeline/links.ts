/**
 * Links: for each thing of `before` and each of `after` the probability that they are one, and the assignment of the
 * most probable ones, in which a thing may also have no partner. Rivals decide as much as looks: of two candidates the
 * better one is mostly right (column groups in training/fits/README.md).
 */
import munkres from 'munkres';
import { areaOf, type Box, overlap } from '../base/images.js';
import { cosine, softmax } from '../base/logistic.js';
import type { AlikeRow, LinkRow } from '../model/judge-schema.js';
import { intersectionOverUnion } from '../model/regions.js';
import { type Judge, judged, oddsOf } from './judge.js';
import type { Thing } from './things.js';

export interface Link {
  readonly before: Thing;
  readonly after: Thing;
  readonly row: AlikeRow & LinkRow;
  /** 0..1 */
  readonly probability: number;
}

/** @param aspect width of the frame by its height */
export function linksOf(things: readonly Thing[], aspect: number, judge: Judge): Link[] {
  const before = things.filter(({ side }) => side === 'before');
  const after = things.filter(({ side }) => side === 'after');
  const single = before.flatMap((from) =>
    after.map((to) => {
      const row = likeness(from, to, aspect);
      return { before: from, after: to, row, alike: judged(judge.alike, row) };
    }),
  );
  return single.map(({ alike, ...one }): Link => {
    const rivals = single.filter((other) => (other.before === one.before) !== (other.after === one.after));
    const best = Math.max(0, ...rivals.map((other) => other.alike));
    const better = rivals.filter((other) => other.alike > alike).length;
    const row = {
      alike: oddsOf(alike),
      gap: oddsOf(alike) - oddsOf(best),
      better: Math.min(3, better),
    };
    return { ...one, row: { ...one.row, ...row }, probability: judged(judge.link, row) };
  });
}

function likeness(from: Thing, to: Thing, aspect: number): AlikeRow {
  const replaced = ({ witness }: Thing) => witness.kinds.replace ?? 0;
  const isOne = (word: string) => classOf(from, word) * classOf(to, word);
  const [a, b] = [from.box, to.box];
  const height = Math.max(a.height, b.height);
  const dx = ((centre(a) - centre(b)) * aspect) / height;
  const dy = (a.y + a.height - b.y - b.height) / height;
  return {
    class: ['person', 'vehicle', 'animal', 'object'].reduce((sum, word) => sum + isOne(word), 0),
    conflict: classOf(from, 'person') * classOf(to, 'vehicle') + classOf(from, 'vehicle') * classOf(to, 'person'),
    nouns: cosine(softmax(from.names.nouns).slice(1), softmax(to.names.nouns).slice(1)),
    paint: cosine(softmax(from.names.colours), softmax(to.names.colours)),
    bands: shared(from.colours, to.colours) / 300,
    area: Math.abs(Math.log(areaOf(a) / areaOf(b))),
    distance: Math.log1p(Math.hypot(dx, dy)),
    iou: intersectionOverUnion(a, b),
    overlap: overlap(a, b),
    replace: oddsOf((replaced(from) + replaced(to)) / 2),
  };
}

/** A person of the detector is one, whatever the namer sees around. */
export const classOf = ({ shares, person }: Thing, word: string): number =>
  person > 0 ? (word === 'person' ? 1 : 0) : (shares.get(word) ?? 0);

/**
 * @param links one for each thing of `before` and each of `after`
 * @returns those of the assignment of the greatest total log-odds; a pair below the level of a link has none
 */
export function assignedLinks(links: readonly Link[], { levels }: Pick<Judge, 'levels'>): Link[] {
  if (links.length === 0) return [];
  const rows = [...new Set(links.map(({ before }) => before))].map((thing) =>
    links.filter(({ before }) => before === thing),
  );
  // A link that is worth less than none costs as much as none.
  const costOf = ({ probability }: Link): number => Math.min(0, oddsOf(levels.link) - oddsOf(probability));
  return munkres(rows.map((row) => row.map(costOf)))
    .map(([i, j]) => rows[i]?.[j] as Link)
    .filter(({ probability }) => probability >= levels.link);
}

const centre = ({ x, width }: Box): number => x + width / 2;

const shared = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, share, i) => sum + Math.min(share, b[i] as number), 0);
