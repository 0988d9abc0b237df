/**
 * Agreement of visits with a person's list. Both agree in a frame if the centre of the body lies in the box of the
 * visit, or next to it; between two places of its path a visit is on the straight line. Each person gets at most one
 * visit, so that most frames agree.
 */
import munkres from 'munkres';

/** Half of a box and a little more: the list is exact to about 0.03 of the frame. */
const agrees = ([, x, y], { x: left, y: top, width, height }) =>
  Math.abs(x - left - width / 2) <= Math.max(0.045, 0.6 * width) &&
  Math.abs(y - top - height / 2) <= Math.max(0.08, 0.6 * height);

/** @returns [second, box] of each second from the first to the last place */
function placesOf({ path }, start) {
  const places = path.map(({ at, box }) => [(Date.parse(at) - start) / 1000, box]);
  return places.flatMap(([second, box], i) => {
    const [until, next] = places[i + 1] ?? [second + 1, box];
    return Array.from({ length: Math.max(1, Math.round(until - second)) }, (_, step) => {
      const share = step / (until - second);
      const mixed = (key) => box[key] * (1 - share) + next[key] * share;
      return [second + step, Object.fromEntries(Object.keys(box).map((key) => [key, mixed(key)]))];
    });
  });
}

/** @param start time of second 0, epoch ms */
export function agreementOf(people, visits, start) {
  const places = visits.map((visit) => placesOf(visit, start));
  const frames = people.map(({ path }) => {
    const bySecond = new Map(path.map((place) => [place[0], place]));
    const fits = ([second, box]) => bySecond.has(second) && agrees(bySecond.get(second), box);
    return places.map((all) => all.filter(fits).length);
  });
  const pairs = people.length * visits.length === 0 ? [] : munkres(frames.map((row) => row.map((count) => -count)));
  const agreeing = pairs.reduce((sum, [i, j]) => sum + frames[i][j], 0);
  const listed = [...people.map(({ path }) => path), ...places].reduce((sum, { length }) => sum + length, 0);
  return {
    /** people with a visit that agrees in at least half of their frames */
    found: pairs.filter(([i, j]) => frames[i][j] >= people[i].path.length / 2).length,
    /** agreeing frames among those of both (Ristani et al. 2016) */
    idf1: (2 * agreeing) / listed,
    ...{ agreeing, listed },
    /** the visit of each person; undefined: none agrees anywhere */
    visitOf: new Map(pairs.filter(([i, j]) => (frames[i]?.[j] ?? 0) > 0).map(([i, j]) => [people[i].id, visits[j]])),
  };
}
