import { readCaption } from '../../src/language/people/captions.js';
import { readPlaces } from '../../src/language/people/places.js';

/** "direction colours noun", in the order of the sentence. */
const read = (caption: string): string[] =>
  readCaption(caption).mentions.map(({ direction, colours, noun, plural, becomes }) =>
    [direction, ...colours, noun + (plural ? '(s)' : ''), ...(becomes === null ? [] : ['->', becomes])].join(' '),
  );

describe('the colours of several things', () => {
  const colours = (caption: string) =>
    readCaption(caption).mentions.map(({ noun, colours: all, eachColour }) => [noun, all, eachColour]);
  it.each([
    ['two people have left, one in red and one in black', [['person', [], ['red', 'black']]]],
    ['two cars have appeared on the left, one dark blue', [['car', [], ['dark blue']]]],
    ['four bags are gone, two red, one white and one in dark clothes', [['bag', [], ['red', 'white', 'dark']]]],
    [
      'Two people have left, one in red and one in black; a white car has appeared, and others have moved.',
      [
        ['person', [], ['red', 'black']],
        ['car', ['white'], []],
      ],
    ],
    ['a red car has left and one in black', [['car', ['red'], []]]],
  ])('%s', (caption, expected) => {
    expect(colours(caption)).toEqual(expected);
  });
});

describe('the direction of a mention', () => {
  it.each([
    ['a red van has appeared by the gate', ['appear red van']],
    ['there is a forklift in the yard now', ['appear forklift']],
    ['a lorry has pulled up at the loading bay', ['appear truck']],
    ['a girl in a yellow coat is now standing at the bus stop', ['appear yellow girl']],
    ['someone has entered the hall', ['appear person']],
    ['several crates are stacked near the wall now', ['appear crate(s)']],
    ['a police car and an ambulance have arrived', ['appear police car', 'appear ambulance']],
    ['two trolleys have been left in the aisle', ['appear shopping cart(s)']],
    ['a dog is running across the lawn', ['appear dog']],
    ['the red van is gone', ['disappear red van']],
    ['the bench under the trees is no longer there', ['disappear bench']],
    ['the boy with the ball has left', ['disappear boy']],
    ['the suitcase has been taken away', ['disappear suitcase']],
    ['the taxi has driven off', ['disappear taxi']],
    ['there is no bus at the stop any more', ['disappear bus']],
    ["the ladder isn't there any more", ['disappear ladder']],
    ['the two cyclists have ridden out of view', ['disappear cyclist(s)']],
    ['the man who was sitting on the bench has disappeared', ['disappear man']],
    ['the bin is missing', ['disappear trash can']],
    ['the silver car has moved to the left', ['move silver car']],
    ['the woman has walked up to the counter', ['move woman']],
    ['the tram is now further away', ['move tram']],
    ['the pram has been moved closer', ['move stroller']],
    ['the green bus is at the right edge now', ['move green bus']],
    ['the pickup has backed out of its space', ['move pickup truck']],
    ['a bus has pulled out of its bay', ['move bus']],
    ['the people have moved away from the door', ['move person(s)']],
    ['the small blue cube changed to red', ['alter blue cube -> red']],
    ['the big ball turned metallic', ['alter ball -> metallic']],
    ['the cylinder became green', ['alter cylinder -> green']],
    ['the tiny matte block changed its location', ['move cube']],
    ['the large thing has been newly placed', ['appear object']],
  ])('%s', (caption, expected) => {
    expect(read(caption)).toEqual(expected);
    expect(readCaption(caption).verdict).toBe('change');
  });
});

describe('several things in one sentence', () => {
  it.each([
    ['the van is gone and a truck has appeared', ['disappear van', 'appear truck']],
    ['the black car and the bicycle have left', ['disappear black car', 'disappear bicycle']],
    ['a man has sat down; the dog is no longer there', ['disappear dog']],
    ['a white bus has arrived, and the two pedestrians have left', ['appear white bus', 'disappear pedestrian(s)']],
    ['the red car has driven up the street. a scooter is parked there now', ['move red car', 'appear scooter']],
    ['the crate is gone and so is the pallet', ['disappear crate', 'disappear pallet']],
    ['a truck, a van and a car are on the road now', ['appear truck', 'appear van', 'appear car']],
    ['the bus has left but the people are now at the crossing', ['disappear bus', 'move person(s)']],
  ])('%s', (caption, expected) => {
    expect(read(caption)).toEqual(expected);
  });
});

describe('a mention of one thing in the place of another', () => {
  it.each([
    ['the black suv has been replaced by a white van', ['disappear black suv', 'appear white van']],
    ['a bench has replaced the table', ['appear bench', 'disappear table']],
    ['a blue car has taken the place of the motorcycle', ['appear blue car', 'disappear motorcycle']],
    ['there is a bus by the gate instead of the truck', ['appear bus', 'disappear truck']],
  ])('%s', (caption, expected) => {
    expect(read(caption)).toEqual(expected);
    expect(readCaption(caption).replaces).toBe(true);
  });
});

describe('a statement that nothing changed', () => {
  it.each([
    'nothing has changed',
    'there is no change',
    'no change was made',
    'the scene is the same as before',
    'the scene remains the same',
    'the two scenes seem identical',
    'everything is as before',
    'there is no difference',
    'both pictures show the same scene',
    'only the light has changed',
    'nothing has changed but the camera has moved',
    'it has got darker, but nothing has changed',
    'no person has appeared or left',
    'the leaves are moving; nothing else has changed',
  ])('%s', (caption) => {
    expect(readCaption(caption)).toEqual({ verdict: 'none', mentions: [], clauses: [], replaces: false });
  });

  it('is not found in an empty or meaningless sentence', () => {
    expect(readCaption('').verdict).toBeNull();
    expect(readCaption('blue the of').verdict).toBeNull();
  });
});

describe('the colours of a mention', () => {
  it.each([
    ['a woman in a dark red dress has appeared', ['appear dark red woman']],
    ['a man wearing a grey hoodie has appeared', ['appear grey man']],
    ['a woman with long black hair has appeared', ['appear woman']],
    ['the pale blue car by the red wall is gone', ['disappear light blue car']],
    ['the maroon car is gone', ['disappear dark red car']],
    ['a person in black and white has appeared', ['appear black white person']],
    ['a man with a red bag has appeared', ['appear man']],
  ])('%s', (caption, expected) => {
    expect(read(caption)).toEqual(expected);
  });
});

describe('the places of a mention', () => {
  const places = (clause: string) =>
    readPlaces(clause).map(({ horizontal, depth, motion, landmark }) =>
      [landmark, horizontal, depth, motion ? 'way' : undefined].filter(Boolean).join(' '),
    );
  it.each([
    ['a van on the left', ['left']],
    ['a van at the lower right', ['right near']],
    ['a van in the upper left corner', ['left far']],
    ['a van in the middle of the road', ['middle', 'road']],
    ['a van in the distance', ['far']],
    ['a van in the foreground', ['near']],
    ['moved to the right', ['right way']],
    ['is now further away', ['far way']],
    ['has come closer', ['near way']],
    ['a van in the left lane', ['road']],
    ['a man to the left of the table', ['table']],
    ['a man in front of the glass doors', ['door']],
    ['a man next to the lamp post', ['post']],
    ['a man with a hat', []],
  ])('%s', (clause, expected) => {
    expect(places(clause)).toEqual(expected);
  });

  it('are those that follow it', () => {
    const { mentions } = readCaption('the van on the left and the bus by the tree are gone');
    expect(mentions.map(({ noun, places: [place] }) => [noun, place?.horizontal ?? place?.landmark])).toEqual([
      ['van', 'left'],
      ['bus', 'tree'],
    ]);
  });

  it('are those at the end of the sentence, if none follows it', () => {
    const { mentions } = readCaption('a van and a bus have appeared on the right');
    expect(mentions.map(({ places: [place] }) => place?.horizontal)).toEqual(['right', 'right']);
  });
});
