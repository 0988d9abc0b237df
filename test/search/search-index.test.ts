import type { SearchFilter } from '../../src/search/scope.js';
import { SearchIndex } from '../../src/search/search-index.js';
import type { SearchedChange } from '../../src/search/texts.js';
import { storedChange } from '../helpers/changes.js';

const HOUR = 3_600_000;
const NOON = Date.parse('2026-01-05T12:00:00Z');
let count = 0;
const change = (caption: string, given: Parameters<typeof storedChange>[0] = {}): SearchedChange => {
  const kind = /left|disappeared|gone/.test(caption) && !/on the left$/.test(caption) ? 'disappear' : 'appear';
  return storedChange({ name: `thing ${count++}`, kind, caption, ...given });
};
const indexOf = (...changes: SearchedChange[]) => {
  const index = new SearchIndex();
  for (const one of changes) index.put(one);
  return index;
};
/** @returns the captions that a search finds, the best first */
function found(changes: SearchedChange[], text: string, filter: SearchFilter = {}): string[] {
  const captions = new Map(changes.map(({ id, caption }) => [id, caption]));
  return indexOf(...changes)
    .search(text, filter)
    .hits.map(({ id }) => captions.get(id) as string);
}

const APPEARED = change('a red car has appeared on the left');
const LEFT = change('a red car has left');
const VAN = change('a white van has appeared in the middle');
const PERSON = change('a person in black has disappeared on the right');
const MANY = [APPEARED, LEFT, VAN, PERSON];

describe('A search by words', () => {
  it('ranks the changes that answer most of the query first, and says by which words', () => {
    expect(found(MANY, 'red car').sort()).toEqual([APPEARED.caption, LEFT.caption]);
    const [best] = indexOf(...MANY).search('white vehicles').hits;
    expect(best).toMatchObject({ id: VAN.id, score: 1 / 61 });
    expect(best?.words).toEqual([
      { word: 'white', matched: 'white' },
      { word: 'vehicles', matched: 'van' },
    ]);
  });

  it('finds the pairs that have a single character of a script without spaces', () => {
    const gate = change('东门有自行车');
    expect(['车', '门', '自行车', '龙'].map((text) => found([APPEARED, gate], text))).toEqual([
      ...Array(3).fill([gate.caption]),
      [],
    ]);
    expect(indexOf(gate).search('车').hits[0]?.words).toEqual([{ word: '车', matched: '行车' }]);
  });

  it('ranks opposite directions last, also if their place shares the verb', () => {
    expect(found(MANY, 'a car has left')).toEqual([LEFT.caption, APPEARED.caption]);
    expect(found(MANY, 'a car has appeared')).toEqual([APPEARED.caption, LEFT.caption]);
    expect(found(MANY, 'red car left')[0]).toBe(LEFT.caption);
    expect(found(MANY, 'car on the left')[0]).toBe(APPEARED.caption);
    expect(found(MANY, 'cars leaving')[0]).toBe(LEFT.caption);
  });

  it('reads the direction of each thing of a replacement', () => {
    const swapped = change('the car has been replaced by a bus', { kind: 'replace' });
    const gone = change('a bus has left');
    expect(found([swapped, gone], 'a bus has left')).toEqual([gone.caption, swapped.caption]);
    const came = change('a bus has appeared');
    expect(found([gone, swapped, came], 'the bus arrived').at(-1)).toBe(gone.caption);
  });

  it('ranks a move the other way last', () => {
    const [left, right] = ['left', 'right'].map((side) =>
      change(`the car has moved to the ${side}`, { kind: 'move' }),
    ) as [SearchedChange, SearchedChange];
    expect(found([left, right], 'car moved to the right')).toEqual([right.caption, left.caption]);
    expect(found([right, left], 'car moved to the left')).toEqual([left.caption, right.caption]);
  });

  it('ranks changes of the asked thing before those that share its colour or direction alone', () => {
    const person = change('a person in grey has appeared');
    expect(found([APPEARED, person, PERSON], 'a woman in red').at(-1)).toBe(APPEARED.caption);
    const moved = change('the dog has moved to the right', { kind: 'move' });
    expect(found([moved, LEFT], 'the car moved to the right')).toEqual([LEFT.caption, moved.caption]);
  });

  it('finds a narrower word for a wider one before the wider one for the narrower', () => {
    const woman = change('a woman has appeared');
    const person = change('a person has appeared');
    expect(found([person, woman], 'a woman')).toEqual([woman.caption, person.caption]);
    expect(found([woman, VAN], 'people')).toEqual([woman.caption]);
    expect(found([PERSON, VAN], 'a dog')).toEqual([]);
  });

  it('searches the sentences of feedback, and the ids and names of cameras and zones', () => {
    const judged = change('a box has appeared', {
      feedback: { judgement: 'correct', caption: 'a pizza was delivered', at: '2026-01-05T13:00:00Z' },
    });
    const docked = change('a car has appeared', { camera: 'cam-7', zone: 'z1' });
    const index = indexOf(judged, docked, VAN);
    expect(index.search('pizza').hits.map(({ id }) => id)).toEqual([judged.id]);
    expect(index.search('cam 7').hits.map(({ id }) => id)).toEqual([docked.id]);
    expect(index.search('Laderampe').hits).toEqual([]);
    index.setNames((camera, zone) => [camera, ...(zone === 'z1' ? ['Laderampe Süd'] : [])]);
    expect(index.search('laderampe sud').hits.map(({ id }) => id)).toEqual([docked.id]);
  });

  it('takes the names of places as they are: a camera called traffic shows more than lorries', () => {
    const person = change('a person has appeared', { camera: 'traffic' });
    expect(found([person], 'lorry')).toEqual([]);
    expect(found([person], 'traffic')).toEqual([person.caption]);
  });

  it('lists equal answers by time, the latest first', () => {
    const hours = [3, 1, 2].map((hour) => change('a dog has appeared', { confirmed: NOON + hour * HOUR }));
    const order = indexOf(...hours)
      .search('dog')
      .hits.map(({ id }) => hours.findIndex((one) => one.id === id));
    expect(order).toEqual([0, 2, 1]);
  });

  it('does not list each disappearance for a thing that left', () => {
    expect(found([PERSON, LEFT], 'a car has left')).toEqual([LEFT.caption]);
    expect(found([PERSON, LEFT, VAN], 'departures')).toHaveLength(2);
  });
});

describe('Filters', () => {
  const night = change('a fox has appeared', {
    camera: 'yard',
    zone: 'z',
    severity: 'high',
    confirmed: NOON + 9 * HOUR,
  });
  const noon = change('a fox has appeared', { camera: 'gate', confirmed: NOON });
  it.each<[string, SearchFilter]>([
    ['camera', { camera: (id) => id === 'yard' }],
    ['zone', { zone: 'z' }],
    ['severity', { severity: 'high' }],
    ['begin', { since: NOON + HOUR }],
    ['exception', { except: noon.id }],
  ])('by %s', (_name, filter) => {
    expect(indexOf(night, noon).search('fox', filter)).toMatchObject({ hits: [{ id: night.id }], changes: 1 });
  });
  it('by kind and end', () => {
    expect(indexOf(night, noon).search('fox', { until: NOON + HOUR }).hits).toMatchObject([{ id: noon.id }]);
    expect(indexOf(night, noon).search('fox', { kind: 'move' }).hits).toEqual([]);
  });

  it('hide the words of changes that may not be found: they neither match nor suggest a spelling', () => {
    const secret = change('a box has appeared', { camera: 'vault', zone: 'diamonds' });
    const isGate = (camera: string) => camera === 'gate';
    const index = indexOf(secret, noon);
    expect(index.search('diamnds').interpretedAs).toEqual([{ word: 'diamnds', as: ['diamond'], by: 'spelling' }]);
    expect(index.search('diamnds diamonds', { camera: isGate })).toEqual({
      hits: [],
      interpretedAs: [],
      unknownWords: ['diamnds', 'diamonds'],
      allWords: false,
      changes: 1,
      compared: 0,
    });
  });

  it('give the same scores whether or not other cameras have changes', () => {
    const isGate = (camera: string) => camera === 'gate';
    const others = Array.from({ length: 50 }, () => change('a red car has left', { camera: 'yard' }));
    const small = indexOf(APPEARED, VAN).search('red car', { camera: isGate });
    expect(indexOf(APPEARED, VAN, ...others).search('red car', { camera: isGate })).toEqual(small);
  });
});

describe('Unknown words', () => {
  const truck = change('a truck has appeared');
  it.each([
    ['lorry', 'synonym', ['truck']],
    ['lorries', 'synonym', ['truck']],
    ['vehicle', 'narrower', ['truck']],
    ['ambulance', 'wider', ['vehicle']],
    ['trukc truk', 'spelling', ['truck']],
  ])('%s is read by its %s', (word, by, as) => {
    const changes = by === 'wider' ? [change('a vehicle has appeared')] : [truck];
    const { hits, interpretedAs } = indexOf(...changes).search(word);
    expect(hits).toMatchObject([{ id: changes[0]?.id }]);
    expect(interpretedAs).toEqual([{ word: word.split(' ').at(-1), as, by }]);
  });

  it('needs no interpretation for a word that a change has', () => {
    expect(indexOf(truck).search('truck').interpretedAs).toEqual([]);
    const { interpretedAs } = indexOf(PERSON, truck).search('people trucks');
    expect(interpretedAs).toEqual([]);
  });

  it.each([
    ['nonsense', 'xqzv blorptang', ['xqzv', 'blorptang']],
    ['another language', 'ein rotes Fahrrad', ['ein', 'rotes', 'fahrrad']],
    ['Chinese', '红色', ['红色']],
    ['emoji', '🚗🔥', ['🚗🔥']],
    ['punctuation', '")(*&', ['")(*&']],
    ['a sentence without a change', 'nothing has changed', []],
    ['function words alone', 'the is of', []],
  ])('%s finds nothing', (_name, text, unknownWords) => {
    expect(indexOf(...MANY).search(text)).toMatchObject({ hits: [], interpretedAs: [], unknownWords });
  });

  it('lets the known words of a query find what they can', () => {
    const { hits, unknownWords, allWords } = indexOf(...MANY).search('white van yesterday');
    expect(allWords).toBe(false);
    expect(hits[0]?.id).toBe(VAN.id);
    expect(unknownWords).toEqual(['yesterday']);
  });

  it('takes the syntax of other engines as words', () => {
    for (const text of ['@caption:{van} => [KNN 5]', '"van" OR *:*', "van'; DROP TABLE changes; --", 'van\u0000~2^4']) {
      expect(indexOf(...MANY).search(text).hits[0]?.id).toBe(VAN.id);
    }
  });

  it('answers a query of 10,000 characters', () => {
    const text = Array.from({ length: 2_000 }, (_, i) => `w${i}`).join(' ');
    expect(indexOf(...MANY).search(`van ${text}`).hits[0]?.id).toBe(VAN.id);
  });
});

describe('The index', () => {
  it('replaces a change that is put again, and drops one that is removed', () => {
    const index = indexOf(VAN, PERSON);
    index.put({ ...VAN, caption: 'a bus has appeared' });
    expect(index.search('van').hits).toEqual([]);
    expect(index.search('bus').hits).toMatchObject([{ id: VAN.id }]);
    index.remove(VAN.id);
    index.remove('chg_unknown');
    expect([index.size, index.search('bus').hits.length, index.search('person').hits.length]).toEqual([1, 0, 1]);
    index.clear();
    expect([index.size, index.search('person').hits]).toEqual([0, []]);
  });

  it('keeps the latest changes within its bound', () => {
    const index = new SearchIndex(50);
    const all = Array.from({ length: 120 }, (_, i) => change(`a box number b${i}`, { confirmed: NOON + i * HOUR }));
    for (const one of all) index.put(one);
    expect(index.size).toBeLessThanOrEqual(50);
    expect(index.search('b119').hits).toHaveLength(1);
    expect(index.search('b0').hits).toEqual([]);
  });
});
