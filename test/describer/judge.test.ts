import { type Answer, readAnswer } from '../../src/describer/answer.js';
import type { Evidence } from '../../src/describer/evidence.js';
import { refute } from '../../src/describer/judge.js';
import { answerOf } from '../helpers/describer-server.js';
import { NONE, nouns, place, VAN_CAME, VAN_LEFT } from './evidence.js';

const judge = (evidence: Evidence, happened: string, noun: string, sentence: string) =>
  refute(readAnswer(answerOf(happened, noun, sentence)) as Answer, evidence);

describe('refute', () => {
  it.each([
    ['the same noun', 'van', 'A white van has appeared on the left.'],
    ['a noun of the same class', 'white delivery truck', 'A delivery truck has arrived at the gate.'],
    ['a plural', 'vans', 'Two vans have appeared.'],
    ['a statement of position', 'van', 'A van is now parked in front of the gate.'],
    ['a thing in the place', 'van', 'A van has appeared next to a person.'],
    ['a side', 'van', 'A van has appeared on the left side.'],
    ['a thing that was left', 'van', 'A van was left at the gate.'],
  ])('accepts %s', (_name, noun, sentence) => {
    expect(judge(VAN_CAME, 'appeared', noun, sentence)).toBeNull();
  });

  it.each([
    ['the inverse event', 'disappeared', 'A van has disappeared.', 'other-event'],
    ['another event', 'moved', 'The van has moved.', 'other-event'],
    ['nothing', 'nothing', 'Nothing has changed.', 'other-event'],
    ['the inverse sentence', 'appeared', 'A van has disappeared from the left.', 'other-direction'],
    ['an inverse second clause', 'appeared', 'A van has appeared and the gizmo is gone.', 'other-direction'],
    ['an inverse clause of the same thing', 'appeared', 'A van has appeared and has then left.', 'other-direction'],
    ['both ways in one clause', 'appeared', 'The van that arrived is gone.', 'other-direction'],
    ['a replacement', 'appeared', 'A van has taken the place of a car.', 'other-direction'],
    ['an addition of a move', 'appeared', 'A van has appeared and a car has moved to the left.', 'other-direction'],
    ['a negation', 'appeared', 'A van has not appeared.', 'unclear-sentence'],
    ['a short negation', 'appeared', "A van hasn't appeared.", 'unclear-sentence'],
    ['no event', 'appeared', 'White, large and shiny.', 'unclear-sentence'],
    ['a known event of an unknown thing', 'appeared', 'A gizmo has appeared.', 'unclear-sentence'],
    ['another thing in the sentence', 'appeared', 'A dog has appeared.', 'other-noun'],
    ['a second thing in the sentence', 'appeared', 'A van and a dog have appeared.', 'other-noun'],
  ])('refuses %s', (_name, happened, sentence, code) => {
    expect(judge(VAN_CAME, happened, 'van', sentence)).toMatchObject({ code });
  });

  it.each(['dog', 'person', 'suitcase', 'gizmo', '', 'vanilla'])(
    'refuses the noun %j for a van, with both nouns',
    (noun) => {
      const refused = judge(VAN_CAME, 'appeared', noun, 'A van has appeared.');
      expect(refused).toMatchObject({ code: 'other-noun', detail: expect.stringContaining('van, truck') });
      expect(refused?.detail).toContain(`"${noun}"`);
    },
  );

  it('takes a noun of another class that the noun head finds likely', () => {
    const evidence = [place('appeared', NONE, nouns(['bag'], ['bag', 'dog']))];
    expect(judge(evidence, 'appeared', 'dog', 'A dog has appeared.')).toBeNull();
    expect(judge(evidence, 'appeared', 'horse', 'A horse has appeared.')).toMatchObject({ code: 'other-noun' });
  });

  it('refuses every noun if ours names no thing', () => {
    expect(judge([place('appeared', NONE)], 'appeared', 'van', 'A van has appeared.')).toMatchObject({
      code: 'other-noun',
      detail: expect.stringContaining('names no thing'),
    });
  });

  it('uses the nouns of the frame that shows the thing', () => {
    const evidence = [place('appeared', nouns(['person']), nouns(['van']))];
    expect(judge(evidence, 'appeared', 'person', 'A person has appeared.')).toMatchObject({ code: 'other-noun' });
  });

  it('refuses regions that were not sent', () => {
    const answer = {
      changes: [{ region: 2, happened: 'appeared' as const, noun: 'van', colour: null }],
      sentence: 'x',
    };
    expect(refute(answer, VAN_CAME)).toMatchObject({
      code: 'unknown-region',
      detail: expect.stringContaining('1 to 1'),
    });
  });

  it.each([
    ['The van has disappeared.', null],
    ['The van is no longer there.', null],
    ['A van has appeared.', { code: 'other-direction' }],
    ['The van is still there.', { code: 'unclear-sentence' }],
  ])('of a departure judges "%s"', (sentence, expected) => {
    const refused = judge(VAN_LEFT, 'disappeared', 'van', sentence);
    if (expected === null) expect(refused).toBeNull();
    else expect(refused).toMatchObject(expected);
  });

  it.each([
    ['The van has moved to the left.', null],
    ['The van has driven away.', { code: 'other-direction' }],
    ['A van has appeared.', { code: 'other-direction' }],
  ])('of a move judges "%s"', (sentence, expected) => {
    const refused = judge([place('moved', nouns(['van']))], 'moved', 'van', sentence);
    if (expected === null) expect(refused).toBeNull();
    else expect(refused).toMatchObject(expected);
  });

  it.each([
    ['The car has been replaced by a van.', null],
    ['There is a van instead of the car.', null],
    ['The van has been replaced by a car.', { code: 'other-noun' }],
    ['The car is gone.', { code: 'other-direction' }],
    ['A van has appeared.', { code: 'other-direction' }],
  ])('of a replacement judges "%s"', (sentence, expected) => {
    const refused = judge([place('replaced', nouns(['car']), nouns(['van']))], 'replaced', 'van', sentence);
    if (expected === null) expect(refused).toBeNull();
    else expect(refused).toMatchObject(expected);
  });

  it('refuses a sentence that omits the event of a claimed region', () => {
    const evidence = [...VAN_CAME, place('disappeared', nouns(['person']), NONE)];
    const changes = [
      { region: 1, happened: 'appeared' as const, noun: 'van', colour: null },
      { region: 2, happened: 'disappeared' as const, noun: 'person', colour: null },
    ];
    const said = (sentence: string) => refute({ changes, sentence }, evidence);
    expect(said('A van has appeared and the person has left.')).toBeNull();
    expect(said('A van has appeared.')).toMatchObject({ code: 'other-direction' });
    expect(said('A person has appeared and the van has left.')).toMatchObject({ code: 'other-noun' });
  });
});
