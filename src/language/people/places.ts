/** Reader of the places that a sentence states: a part of the frame, a way of moving, or a landmark. */
export interface StatedPlace {
  /** the words that it was read from */
  readonly phrase: string;
  readonly horizontal?: 'left' | 'middle' | 'right';
  readonly depth?: 'near' | 'far';
  /** stated as a way of moving ("to the left", "closer"), not only as a position */
  readonly motion?: boolean;
  /** canonical landmark, e.g. 'road' */
  readonly landmark?: string;
}

/** canonical landmark -> words for it, as alternatives; surfaces that are parts of one another count as one */
const LANDMARKS: Readonly<Record<string, string>> = {
  road:
    'road|street|highway|motorway|carriageway|lane|lanes|hard shoulder|shoulder|curb|kerb|' +
    'junction|intersection|crossroads|roundabout|drive|driveway|roadside|slip road',
  'parking lot':
    'parking lot|car park|lot|parking bay|parking bays|parking space|parking spaces|' +
    'parking spot|bay|bays|row|space',
  grass: 'grass|lawn|verge|field|meadow',
  pavement: 'pavement|sidewalk|path|footpath|walkway|promenade|boardwalk|footbridge',
  ground: 'ground|gravel|sand|dirt',
  floor: 'floor|aisle|room|hall|corridor',
  square: 'square|plaza|courtyard|yard',
  court: 'court|pitch|playing field',
  platform: 'platform',
  table: 'table|desk|counter',
  fence: 'fence|railing|railings|gate|hedge',
  tree: 'tree|trees|bush|bushes',
  wall: 'wall|walls',
  door: 'door|doors|doorway|entrance|exit',
  building: 'building|buildings|house|houses|shop|store|shed|garage',
  window: 'window|windows',
  post: 'lamp post|lamppost|street light|lamp|pole|post|pillar|pillars|column|columns',
  sign: 'sign|signs|billboard',
  cone: 'cone|cones|traffic cones|barrier|barriers',
  stairs: 'stairs|steps|staircase|ladder',
  bench: 'bench|benches|sofa|chair|chairs|seats',
  bin: 'bin|bins|trash can',
  stage: 'stage',
  car: 'car|cars|van|vans|truck|vehicle|vehicles|suv',
  person: 'man|woman|person|people',
};
const LANDMARK_OF = new Map(
  Object.entries(LANDMARKS).flatMap(([name, words]) => words.split('|').map((w) => [w, name] as const)),
);
const LANDMARK_WORDS = [...LANDMARK_OF.keys()].sort((a, b) => b.length - a.length).join('|');

/** Compiles a regular expression from pieces, which are written one under the other. */
const joined = (...pieces: string[]): RegExp => new RegExp(pieces.join(''), 'g');

/** groups: preposition, height, side, anchor ("of the ...") */
const SIDE = joined(
  '\\b(on|at|in|to|into|towards?|from|near|by|out on|onto) (?:the |its )?',
  '(?:(lower|upper|bottom|top|far|near)[ -])?(left|right|middle|centre|center)\\b(?:[ -]hand)?',
  '(?: (?:edge|side|corner|end|part|half|third)\\b)?',
  '(?! (?:lane|row|sidewalk|pavement|carriageway|shoulder|bay)\\b)(?: of the ((?:parking )?\\w+))?',
);
/** groups: preposition, depth */
const DEPTH = joined(
  '\\b(at|in|to|near|towards|into|from|by|on) the (?:(?:very|far) )?',
  '(top|bottom|foreground|background|distance|horizon|front(?! of)|back(?! of))\\b',
);
const WAY = joined(
  '\\b(closer|nearer|towards the camera|further away|farther away|away from the camera|further (?:up|along|back|down)|',
  'farther (?:up|along|back)|(?<!from )further|into the distance)\\b',
);
/** groups: preposition, phrase that ends in the landmark */
const AT_LANDMARK = joined(
  '\\b(by|near|at|behind|beside|next to|in front of|in|on|onto|into|along|past|between|under|around|against|across|',
  'towards?|to|from|out of|off|over|inside|outside|of|down|up) ',
  `((?:(?:the|its|a|an|their|his|her) )?(?:(?!and |but |or )[\\w-]+ ){0,3}?(?:${LANDMARK_WORDS}))\\b`,
);
// "To the left of the table" is a place at the table. With an anchor like "the picture" or "the road" it is a part of
// the frame.
const FRAME_LIKE =
  /^(?:picture|frame|image|view|scene|lot|parking lot|car park|road|street|highway|lane|yard|room|lawn|square)/;
// "Followed by other cars", "a group of people" and "instead of the van" state no place.
const NO_PLACE = /\b(?:(?:followed|joined|accompanied|replaced|driven|pushed) by|(?<!(?:front|out|back|ahead) )of)$/;
const THINGS: ReadonlySet<string> = new Set(['car', 'person']);
const TO = /^(?:to|towards?|into|onto)$/;
const NEARER = /^(?:lower|bottom|near|foreground|front|closer|nearer|towards)/;

/** @param clause lower case, without punctuation. @returns sides first, then depths, ways of moving and landmarks */
export function readPlaces(clause: string): StatedPlace[] {
  const places: StatedPlace[] = [];
  for (const [phrase, preposition, height, side, anchor] of clause.matchAll(SIDE)) {
    if (anchor !== undefined && !FRAME_LIKE.test(anchor)) continue;
    places.push({
      phrase,
      horizontal: side === 'left' || side === 'right' ? side : 'middle',
      ...(height === undefined ? {} : { depth: NEARER.test(height) ? 'near' : 'far' }),
      ...(TO.test(preposition ?? '') ? { motion: true } : {}),
    });
  }
  for (const [phrase, preposition, word] of clause.matchAll(DEPTH)) {
    places.push({
      phrase,
      depth: NEARER.test(word ?? '') ? 'near' : 'far',
      ...(TO.test(preposition ?? '') ? { motion: true } : {}),
    });
  }
  for (const [phrase] of clause.matchAll(WAY)) {
    places.push({ phrase, depth: NEARER.test(phrase) ? 'near' : 'far', motion: true });
  }
  for (const match of clause.matchAll(AT_LANDMARK)) {
    const [phrase, preposition = '', group = ''] = match;
    const word = new RegExp(`(?:${LANDMARK_WORDS})$`).exec(group)?.[0] ?? '';
    const landmark = LANDMARK_OF.get(word);
    if (landmark === undefined) continue;
    if (THINGS.has(landmark) && NO_PLACE.test(clause.slice(0, match.index + preposition.length))) continue;
    places.push({ phrase, landmark });
  }
  return places;
}

/** The canonical landmarks at which the sentences place something; a thing that is only mentioned is none. */
export const landmarksOf = (sentences: readonly string[]): Set<string> =>
  new Set(
    sentences
      .flatMap((sentence) => sentence.toLowerCase().split(/[.,;:!?]+(?:\s|$)/))
      .flatMap((part) => readPlaces(part))
      .flatMap(({ landmark }) => landmark ?? []),
  );
