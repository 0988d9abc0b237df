/** The sentence of a change beside what the visits of its camera know: which things are in view, and their names. */
import { type Box, overlapsBy } from '../../base/images.js';
import { statementOf } from '../../language/read-clauses.js';
import { SOMETHING } from '../../language/thing.js';
import type { Caption } from '../../language/write.js';
import type { ChangeRegion } from '../../schemas/change.js';
import type { ChangeKind } from '../../schemas/kinds.js';
import type { ThingInView } from './state.js';

/** Share of the smaller box that a region and a thing at its place have in common (set, not fitted). */
const SAME_PLACE = 0.5;

/**
 * A thing whose place is empty has not left if it is in view elsewhere. A thing that the comparison did not name has
 * the name by which it was followed to here.
 * @param regions of the change in the frame that shows the things
 */
export function captionInView(
  caption: Caption,
  kind: ChangeKind,
  regions: readonly ChangeRegion[],
  things: readonly ThingInView[] = [],
): Caption {
  const statement = statementOf(caption);
  if (statement?.kind !== kind || regions.length === 0) return caption;
  const isAt = (place: Box, region: ChangeRegion) => overlapsBy(place, region.box, SAME_PLACE);
  if (kind === 'disappear') {
    const isElsewhere = regions.every((region) =>
      things.some(({ box, from }) => !isAt(box, region) && from.some((place) => isAt(place, region))),
    );
    return isElsewhere ? { ...statement, verb: 'no longer there' } : caption;
  }
  const [thing, ...more] = statement.things;
  const here = things.filter(({ box, noun }) => noun !== null && regions.some((region) => isAt(box, region)));
  const noun = here.length === 1 ? here[0]?.noun : null;
  if (kind !== 'appear' || thing?.noun !== SOMETHING || more.length > 0 || !noun) return caption;
  return { ...statement, things: [{ ...thing, noun }] };
}
