/**
 * Lexicon of nouns: each with its plural, its synonyms and the wider nouns that are also true of it. Captions are
 * parsed and compared with the labels by it.
 */

type NounClass = 'person' | 'vehicle' | 'animal' | 'object';

interface NounEntry {
  /** wider nouns, the nearest first and a NounClass last; empty for a NounClass */
  readonly isa: readonly string[];
  /** synonyms */
  readonly also?: readonly string[];
  /** irregular plurals; absent if the rules of pluralOf give the plural */
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
  /(?:s|x|ch|sh)$/.test(word) ? `${word}es` : /[^aeiou]y$/.test(word) ? `${word.slice(0, -1)}ies` : `${word}s`;

interface NounForm {
  readonly noun: string;
  readonly plural: boolean;
}

/** singular, plural or synonym -> canonical noun */
export const NOUN_FORMS: ReadonlyMap<string, NounForm> = new Map(
  Object.entries(NOUNS).flatMap(([noun, { also = [], plurals }]) => [
    ...[noun, ...also].map((form): [string, NounForm] => [form, { noun, plural: false }]),
    ...[...(plurals ?? []), ...(plurals ? [] : [noun, ...also].map(pluralOf))].map((form): [string, NounForm] => [
      form,
      { noun, plural: true },
    ]),
  ]),
);

/** The canonical singular of a known form, e.g. 'lorries' -> 'truck'; an unknown word is returned unchanged. */
export const canonicalNoun = (form: string): string => {
  const word = form.trim().toLowerCase();
  return NOUN_FORMS.get(word)?.noun ?? word;
};

/** Whether a form names several things, e.g. 'cars', 'people', 'couple'. */
export const isPlural = (form: string): boolean => NOUN_FORMS.get(form.trim().toLowerCase())?.plural ?? false;

/** @returns null for a noun that is not in the lexicon */
export function nounClass(noun: string): NounClass | null {
  const entry = NOUNS[noun];
  if (entry === undefined) return null;
  return (entry.isa.at(-1) ?? noun) as NounClass;
}

/**
 * How a stated noun fits a true one: the same or a synonym, a wider noun that is also true, only of the same class,
 * or not.
 */
export type NounFit = 'same' | 'wider' | 'class' | 'none';

export function nounFit(stated: string, truth: string): NounFit {
  const [a, b] = [canonicalNoun(stated), canonicalNoun(truth)];
  if (a === b) return 'same';
  // CLEVR calls its spheres balls.
  if (new Set([a, b]).size === 2 && [a, b].every((noun) => noun === 'ball' || noun === 'sphere')) return 'same';
  if (NOUNS[b]?.isa.includes(a)) return 'wider';
  // 'pedestrian' is the role of a person on foot.
  if (a === 'pedestrian' && ['man', 'woman', 'child', 'boy', 'girl'].includes(b)) return 'wider';
  return nounClass(a) !== null && nounClass(a) === nounClass(b) ? 'class' : 'none';
}
