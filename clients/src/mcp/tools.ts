/** The tools for agents: which operation of the API each one calls, and what it shows of the answer. */
import type { components } from '../../../openapi/generated/api.js';

/** Members of a listed item that a tool reads. */
export type Item = Readonly<Record<string, unknown>>;

export interface Tool {
  readonly description: string;
  /** of the operation in openapi.yaml */
  readonly operation: string;
  /** arguments that the agent may give; default: all of the operation */
  readonly only?: readonly string[];
  /** arguments with a fixed value, which the agent cannot give */
  readonly fixed?: Readonly<Record<string, string>>;
  /** of a list: the members that are shown of each item; others fill the context of an agent */
  readonly shows?: readonly string[];
  /** of a list: the picture of an item */
  readonly picture?: (item: Item) => { readonly comparison: string; readonly side: string };
  /** It leaves work or a result behind; absent: it only reads. */
  readonly makesJobs?: true;
}

const CHANGE_FILTERS = ['camera', 'zone', 'kind', 'severity', 'status', 'since', 'until', 'cursor', 'limit'];
const changes = {
  operation: 'listChanges',
  shows: [
    ...['id', 'camera', 'zone', 'kind', 'caption', 'severity', 'status', 'confidence', 'first_seen', 'last_seen'],
    ...['settled_at', 'reverted_at', 'acknowledged_at', 'object', 'feedback', 'comparisons', 'match'],
  ],
  picture: (item: Item) => {
    const { comparisons, regions } = item as components['schemas']['Change'];
    // A thing that has gone is in "before" alone, any other in "after".
    const isGone = regions.length > 0 && regions.every(({ side }) => side === 'before');
    return { comparison: comparisons.best, side: isGone ? 'before' : 'after' };
  },
} satisfies Partial<Tool>;

export const TOOLS: Readonly<Record<string, Tool>> = {
  cameras: {
    description: 'The cameras, each with its state and a sentence about its newest frame.',
    operation: 'listCameras',
    only: ['q', 'sort', 'cursor', 'limit'],
    fixed: { overview: 'true' },
    shows: ['id', 'name', 'overview'],
  },
  changes: {
    ...changes,
    description: 'Confirmed changes of the scenes, the latest first: a sentence, times and the ids of comparisons.',
    only: CHANGE_FILTERS,
  },
  search: {
    ...changes,
    description: 'Searches the changes by words ("a red car has left"), or for those like another one.',
    only: ['q', 'like', ...CHANGE_FILTERS],
  },
  visits: {
    description: 'Things that came, moved about and went, the latest first: a sentence, times and the best picture.',
    operation: 'listVisits',
    shows: [
      ...['id', 'camera', 'kind', 'status', 'caption', 'identity', 'first_seen', 'there_before', 'last_seen', 'gone'],
      ...['frames', 'best', 'changes'],
    ],
    picture: ({ best }) => best as { comparison: string; side: string },
  },
  brief: {
    description: 'The events of one day, per camera, as Markdown: visits, what came and left, times without sight.',
    operation: 'readBrief',
    only: ['day', 'camera', 'tz', 'cursor', 'limit'],
    fixed: { format: 'markdown' },
  },
  comparison: { description: 'One comparison of two frames: its answer, or its status.', operation: 'readComparison' },
  ask: {
    description:
      'How probable a sentence about a comparison is ("a person has appeared on the left"), by the model on its two ' +
      'frames. `id` is that of a comparison, as a change names it.',
    operation: 'askComparison',
  },
  compare: {
    description: 'Compares two frames of one fixed camera and says what changed. Unfinished, `comparison` reads it.',
    operation: 'createComparison',
    only: ['before', 'after', 'camera'],
    makesJobs: true,
  },
  when: {
    description:
      'Starts a search for the moment at which a place in recordings of one camera changed. `roi` or `polygon` is the ' +
      'place; `when_result` reads the answer.',
    operation: 'createBatch',
    only: [
      ...['inputs', 'roi', 'polygon', 'between', 'covered_s', 'camera', 'template', 'time_zone', 'start'],
      'every',
    ],
    fixed: { mode: 'when' },
    makesJobs: true,
  },
  when_result: {
    description: 'The answer of `when`, once it is complete.',
    operation: 'readBatchResults',
    only: ['id'],
    fixed: { format: 'json' },
    makesJobs: true,
  },
};
