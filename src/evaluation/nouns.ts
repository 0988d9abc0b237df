/**
 * The one table of what things are called: each noun with its plural, its other names and the wider nouns that are also true
 * of it. Captions are read with it and compared with the truth by it. Nouns are matched longest first, in singular and plural.
 */

export const NOUN_CLASSES = ['person', 'vehicle', 'animal', 'object'] as const;
export type NounClass = (typeof NOUN_CLASSES)[number];

interface NounEntry {
  /** wider nouns, nearest first; ends in one of NOUN_CLASSES; empty for these themselves */
  readonly isa: readonly string[];
  /** other words for the same thing */
  readonly also?: readonly string[];
  /** where it isn't made by the rules of pluralOf */
  readonly plurals?: readonly string[];
}

const person = (also: readonly string[] = [], plurals?: readonly string[], isa = ['person']): NounEntry => ({
  isa,
  also,
  ...(plurals ? { plurals } : {}),
});
const vehicle = (also: readonly string[] = [], isa = ['vehicle']): NounEntry => ({ isa, also });
const thing = (also: readonly string[] = [], isa = ['object']): NounEntry => ({ isa, also });

/** canonical noun -> entry */
export const NOUNS: Readonly<Record<string, NounEntry>> = {
  person: {
    isa: [],
    also: ['someone', 'somebody', 'individual', 'human'],
    plurals: ['people', 'persons', 'couple', 'group'],
  },
  vehicle: { isa: [], also: ['traffic'] },
  animal: { isa: [] },
  object: { isa: [], also: ['thing', 'item', 'something'] },

  man: person(['guy', 'gentleman'], ['men', 'guys', 'gentlemen']),
  woman: person(['lady'], ['women', 'ladies']),
  child: person(['kid', 'toddler'], ['children', 'kids', 'toddlers']),
  boy: person([], undefined, ['child', 'person']),
  girl: person([], undefined, ['child', 'person']),
  baby: person(['infant'], ['babies', 'infants'], ['child', 'person']),
  pedestrian: person(['walker', 'passer-by'], ['pedestrians', 'walkers', 'passers-by']),
  cyclist: person(['biker', 'bicyclist', 'bicycle rider', 'bike rider']),
  motorcyclist: person(['motorbike rider']),
  worker: person(['workman'], ['workers', 'workmen']),
  guard: person(['policeman', 'officer', 'police officer']),
  runner: person(['jogger'], undefined, ['pedestrian', 'person']),
  driver: person(),

  car: vehicle(['automobile']),
  suv: vehicle(['crossover', '4x4'], ['car', 'vehicle']),
  jeep: vehicle([], ['suv', 'car', 'vehicle']),
  hatchback: vehicle([], ['car', 'vehicle']),
  sedan: vehicle(['saloon'], ['car', 'vehicle']),
  'estate car': vehicle(['station wagon'], ['car', 'vehicle']),
  'sports car': vehicle(['convertible', 'coupe'], ['car', 'vehicle']),
  taxi: vehicle(['cab'], ['car', 'vehicle']),
  'police car': vehicle([], ['car', 'vehicle']),
  minivan: vehicle(['mpv', 'people carrier'], ['van', 'car', 'vehicle']),
  van: vehicle(['delivery van', 'minibus']),
  ambulance: vehicle([], ['van', 'vehicle']),
  truck: vehicle(['lorry', 'semi', 'tanker']),
  'pickup truck': vehicle(['pickup', 'pick-up', 'pick-up truck'], ['truck', 'vehicle']),
  'flatbed truck': vehicle(['flatbed', 'tow truck'], ['truck', 'vehicle']),
  'box truck': vehicle(['delivery truck'], ['truck', 'vehicle']),
  'fire engine': vehicle(['fire truck'], ['truck', 'vehicle']),
  'garbage truck': vehicle([], ['truck', 'vehicle']),
  bus: vehicle(['coach']),
  tram: vehicle(['streetcar']),
  train: vehicle(),
  motorcycle: vehicle(['motorbike']),
  scooter: vehicle(['moped']),
  bicycle: vehicle(['bike', 'cycle']),
  forklift: vehicle(['fork-lift']),
  tractor: vehicle(),
  trailer: vehicle(),
  excavator: vehicle(['digger']),
  boat: vehicle(['ship']),
  'golf cart': vehicle(['buggy']),

  dog: { isa: ['animal'] },
  cat: { isa: ['animal'] },
  bird: { isa: ['animal'], also: ['pigeon', 'gull'] },
  horse: { isa: ['animal'] },
  deer: { isa: ['animal'], plurals: ['deer'] },

  bag: thing(['sack', 'handbag']),
  backpack: thing(['rucksack'], ['bag', 'object']),
  suitcase: thing(['luggage', 'trolley case'], ['bag', 'object']),
  briefcase: thing([], ['bag', 'object']),
  box: thing(['carton', 'parcel', 'package', 'cardboard box']),
  crate: thing([], ['box', 'object']),
  pallet: thing(),
  barrel: thing(['drum']),
  container: thing(['shipping container']),
  dumpster: thing(['skip'], ['container', 'object']),
  'trash can': thing(['bin', 'trash bin', 'garbage can', 'dustbin', 'rubbish bin', 'wheelie bin']),
  'traffic cone': thing(['cone']),
  barrier: thing(['barricade', 'road block']),
  sign: thing(['signboard', 'road sign']),
  ladder: thing(),
  chair: thing(['seat', 'office chair', 'armchair']),
  stool: thing([], ['chair', 'object']),
  bench: thing(),
  table: thing(['desk']),
  sofa: thing(['couch']),
  stroller: thing(['pram', 'pushchair']),
  wheelchair: thing(),
  wheelbarrow: thing(),
  'shopping cart': thing(['cart', 'trolley']),
  umbrella: thing(['parasol']),
  plant: thing(['potted plant', 'flower pot']),
  ball: thing(['football']),
  skateboard: thing(),
  basket: thing(),
  television: thing(['tv', 'screen', 'monitor']),
  'fire extinguisher': thing(),
  tent: thing(['gazebo', 'marquee']),
  'pile of snow': thing(['heap of snow', 'snow pile', 'snow heap']),

  cube: thing(['block']),
  sphere: thing(),
  cylinder: thing(),
};

const pluralOf = (word: string): string =>
  /(?:s|x|ch|sh)$/.test(word)
    ? `${word}es`
    : /[^aeiou]y$/.test(word)
      ? `${word.slice(0, -1)}ies`
      : `${word}s`;

export interface NounForm {
  readonly noun: string;
  readonly plural: boolean;
}

/** every form that a caption may use -> what it means */
export const NOUN_FORMS: ReadonlyMap<string, NounForm> = new Map(
  Object.entries(NOUNS).flatMap(([noun, { also = [], plurals }]) => [
    ...[noun, ...also].map((form): [string, NounForm] => [form, { noun, plural: false }]),
    ...[...(plurals ?? []), ...(plurals ? [] : [noun, ...also].map(pluralOf))].map(
      (form): [string, NounForm] => [form, { noun, plural: true }],
    ),
  ]),
);

/** Canonical singular of any known form, e.g. 'lorries' -> 'truck'; an unknown word stays as it is. */
export const canonicalNoun = (form: string): string => {
  const word = form.trim().toLowerCase();
  return NOUN_FORMS.get(word)?.noun ?? word;
};

/** Whether a form means several things, e.g. 'cars', 'people', 'couple'. */
export const isPlural = (form: string): boolean => NOUN_FORMS.get(form.trim().toLowerCase())?.plural ?? false;

/** @returns null for a noun that isn't in the table */
export function nounClass(noun: string): NounClass | null {
  const entry = NOUNS[noun];
  if (entry === undefined) return null;
  return (entry.isa.at(-1) ?? noun) as NounClass;
}

/** How what a caption says fits what is there: the same noun, a wider noun that is also true, only the same class, or nothing. */
export type NounFit = 'same' | 'wider' | 'class' | 'none';

export function nounFit(said: string, truth: string): NounFit {
  const [a, b] = [canonicalNoun(said), canonicalNoun(truth)];
  if (a === b) return 'same';
  // In the balls and blocks of CLEVR a sphere is a ball; in a yard a ball is only one of the things that are round.
  if (new Set([a, b]).size === 2 && [a, b].every((noun) => noun === 'ball' || noun === 'sphere'))
    return 'same';
  if (NOUNS[b]?.isa.includes(a)) return 'wider';
  // A man on foot is a pedestrian: a role, not another thing.
  if (a === 'pedestrian' && ['man', 'woman', 'child', 'boy', 'girl'].includes(b)) return 'wider';
  return nounClass(a) !== null && nounClass(a) === nounClass(b) ? 'class' : 'none';
}
