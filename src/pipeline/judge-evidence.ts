/**
 * The evidence of a pair as the judge saw it: rows of its boxes, links and events, each with its boxes. `training.fits
 * judge` labels them by the boxes of labelled pairs and fits the judge. `evaluate --evidence` writes it.
 */
import type { Box, Side } from '../base/images.js';
import { logitOf } from '../base/logistic.js';
import { thirdOf } from '../language/place.js';
import type { RegionRow } from '../model/lens-schema.js';
import { type Likely, listed, type Names } from '../model/naming.js';
import type { StatementKind } from '../schemas/kinds.js';
import type { Event } from './events.js';
import { namesOf, statedPlace } from './facts.js';
import type { Link } from './links.js';
import { depthOf, sideOf } from './place-facts.js';
import type { Thing, Things } from './things.js';

interface Judged {
  readonly row: Readonly<Record<string, number>>;
  readonly probability: number;
}

export interface JudgeEvidence {
  readonly people: readonly (Judged & { readonly side: Side; readonly box: Box })[];
  readonly links: readonly (Judged & { readonly before: Box; readonly after: Box })[];
  readonly events: readonly (Judged & {
    readonly kind: StatementKind;
    /** the most probable class; a person of the detector is one */
    readonly things: readonly { readonly side: Side; readonly box: Box; readonly class: string }[];
    /** the place that the decoder states, with the log-odds of all of its words; null: none */
    readonly stated: { readonly phrase: string; readonly logit: number } | null;
    /** the third of the frame; of a move the side that it went to, and whether closer or further away */
    readonly third: string;
    readonly side: string | null;
    readonly depth: string | null;
    /** the most probable one, however improbable; null: the namer knows none */
    readonly colour: Likely | null;
  })[];
}

/** The evidence that a bundle is fitted on: about events, and about each changed region. */
export interface PairRows extends JudgeEvidence {
  readonly regions: readonly RegionEvidence[];
}

/** Evidence about a changed region; `probability`: that it lies in the scene. */
export type RegionEvidence = Judged & { readonly row: RegionRow; readonly side: Side; readonly box: Box };

/** Evidence of a pair in which nothing happened in the scene. */
export const NO_EVENTS: JudgeEvidence = { people: [], links: [], events: [] };

export const judgeEvidence = (
  { examined }: Things,
  links: readonly Link[],
  events: readonly Event[],
  names: Names,
): JudgeEvidence => ({
  people: examined.map(({ side, box: { box, row, probability } }) => ({ side, box, row, probability })),
  links: links.map(({ before, after, row, probability }) => ({
    before: before.box,
    after: after.box,
    ...{ row, probability },
  })),
  events: events.map(({ kind, things, row, probability }) => {
    const last = things.at(-1) as Thing;
    const stated = statedPlace(last, kind);
    return {
      ...{ kind, row, probability },
      things: things.map((thing) => ({ side: thing.side, box: thing.box, class: classWord(thing) })),
      stated: stated && { phrase: stated.value, logit: logitOf(stated.probability) },
      third: thirdOf(last.box),
      side: kind === 'move' ? sideOf(things) : null,
      depth: kind === 'move' ? depthOf(things) : null,
      colour: listed(namesOf(things, names).colours)[0] ?? null,
    };
  }),
});

const classWord = ({ person, shares }: Thing): string =>
  person > 0 ? 'person' : ([...shares].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 'object');
