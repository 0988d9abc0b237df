/**
 * 200 statements that cover the grammar of the sentences: each noun in the singular and in the plural, each template,
 * place, way, colour, count and garment, two things, parts, and each coming, stay and going of a visit. They are the
 * same for every language, so that one list of sentences per language can be read.
 */

/** Templates that the service writes of objects alone. */
const OBJECTS = ['left behind', 'removed'];

/** @param table the English one, whose words are the values of statements @returns statements, contents and visits */
export function coveringStatements({ nouns, sentences, colours, garments, places, ways, ended: inEnded }) {
  const at = (list, i) => list[i % list.length];
  /** Each call gives the next one of a list. */
  const turns = (list, i = 0) => {
    let n = i;
    return () => at(list, n++);
  };
  const names = Object.keys(nouns);
  const classOf = (noun) => nouns[noun].class ?? 'object';
  const nextCount = turns([2, 3, 4, 5, null]);
  const nextPlace = turns(places);
  const nextWay = turns(ways);
  // Clothes of a colour alone are no garment.
  const nextGarment = turns(Object.keys(garments).filter((name) => name !== 'clothes'));
  const thing = (i, count, definite) => {
    const noun = at(names, i);
    const colour = i % 3 === 0 || nouns[noun].bare ? null : at(colours, i);
    const isDressed = classOf(noun) === 'person' && count === 1 && colour !== null;
    return { noun, colour, count, definite, ...(isDressed ? { garment: nextGarment() } : {}) };
  };
  const verbs = ['appear', 'disappear', 'move', 'replace'].flatMap((kind) =>
    Object.entries(sentences[kind]).map(([verb, { of }]) => ({ kind, verb, of, uses: 0 })),
  );
  /** The template that the fewest statements have, of those that are true of a thing. */
  const nextVerb = (noun) => {
    const fits = ({ verb, of = OBJECTS.includes(verb) ? ['object'] : undefined }) =>
      of === undefined || of.includes(classOf(noun));
    const [rarest] = verbs.filter(fits).sort((one, other) => one.uses - other.uses);
    rarest.uses++;
    return rarest;
  };
  const changes = Array.from({ length: 2 * names.length }, (_, i) => {
    const { kind, verb } = nextVerb(at(names, i));
    const isPaired = kind === 'replace' && verb !== 'been replaced';
    const first = thing(i, i < names.length ? 1 : nextCount(), kind !== 'appear' && verb !== 'been replaced');
    const hasParts = first.count !== 1 && i % 4 === 0;
    const parts = [
      { count: 1, colour: at(colours, i) },
      { count: 2, colour: at(colours, i + 5) },
    ];
    // A replacement has one new thing.
    const second = () => thing(29 * i + 7, i % 3 === 0 && !isPaired ? 2 : 1, !isPaired && first.definite);
    return {
      ...{ kind, verb },
      things: [
        hasParts ? { ...first, colour: null, parts } : first,
        ...(isPaired || (!hasParts && i % 7 === 3) ? [second()] : []),
      ],
      place: kind === 'move' || i % 5 === 4 ? null : nextPlace(),
      way: kind === 'move' ? nextWay() : null,
    };
  });
  const plainThings = {
    changed: [thing(names.indexOf('something'), 1, false)],
    altered: [thing(names.indexOf('truck'), 2, true)],
  };
  const plain = ['change', 'none', 'tamper'].flatMap((kind) =>
    Object.keys(sentences[kind]).map((verb, i) => ({
      ...{ kind, verb, way: null },
      things: plainThings[verb] ?? [],
      place: kind === 'change' ? at(places, i) : null,
    })),
  );
  const contents = ['appear', 'disappear', 'move'].map((kind, i) => {
    const others = { noun: at(names, 8 * i), colour: null, count: i === 0 ? 1 : null, definite: false };
    const further = { kind, verb: 'others', things: [others], place: null, way: null };
    return { statements: [...changes.slice(20 * i, 20 * i + 2), further], more: 1 };
  });
  const ended = Object.keys(inEnded).map((kind, i) => ({
    ...{ kind: kind === 'scene' ? 'change' : kind, verb: '', way: null },
    things: kind === 'scene' || kind === 'tamper' ? [] : [thing(2 * i, 1, false), thing(3 * i, 2, false)],
    place: kind === 'tamper' ? null : at(places, i),
    ended_after_s: at([1, 40, 60, 180, 3600, 7200, 86_400, 200_000, null], i),
  }));
  const edges = ['left', 'right', 'top', 'bottom'];
  const comings = [...edges, 'there', 'appeared', 'uncertain'];
  const goings = [...edges, 'gone', 'still', 'unseen', 'uncertain'];
  const spot = (how, i) => ({
    ...(edges.includes(how) ? { how: 'edge', edge: how } : { how, edge: null }),
    place: edges.includes(how) || i % 3 === 0 ? null : at(['on the left', 'in the middle', 'on the right'], i),
  });
  const rest = 200 - changes.length - plain.length - ended.length - contents.length;
  const minute = (i) => `08:${String(i % 60).padStart(2, '0')}`;
  const visits = Array.from({ length: rest }, (_, i) => ({
    thing: thing(13 * i, 1, false),
    came: spot(at(comings, i), i),
    stayed: i % 2 === 0 ? null : { place: i % 4 === 1 ? null : 'on the left', seconds: at([5, 40, 600, 9000], i >> 1) },
    went: spot(at(goings, i), i + 1),
    objects:
      i % 4 === 0
        ? [
            {
              thing: thing(names.indexOf('suitcase') + i, 1, false),
              value: at(['object_left', 'object_removed'], i >> 2),
            },
          ]
        : [],
    ...(i % 4 === 0 ? {} : { between: { from: minute(i), to: minute(i + (i % 3)) } }),
    seconds: at([61, 300, 7300], i),
  }));
  return [...changes, ...plain, ...ended, ...contents, ...visits];
}
