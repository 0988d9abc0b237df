import { ScenedeltaError } from '../../src/errors.js';
import { auditFeedback, type FeedbackSample, parseFeedback, splitByTime } from '../../src/tuning/feedback.js';

const line = (id: string, fields: object = {}) =>
  JSON.stringify({
    ...{ id, before: `${id}-before.png`, after: `${id}-after.png`, references: ['a car has left'] },
    ...{ verdict: 'change', scene: 'gate', caption: 'a car has left', ...fields },
  });
const parse = (...lines: string[]) => parseFeedback(lines.join('\n'), 'pairs.ndjson');
const everything = () => true;
const ids = (samples: readonly FeedbackSample[]) => samples.map(({ id }) => id);

describe('parseFeedback', () => {
  it('distinguishes a right sentence, a better one and a false alarm', () => {
    const samples = parse(
      line('1'),
      line('2', { references: ['a van has left'] }),
      line('3', { verdict: 'none', references: ['there is no change'] }),
    ).map(({ sample: { changed, sentence } }) => [changed, sentence]);
    expect(samples).toEqual([
      [true, null],
      [true, 'a van has left'],
      [false, null],
    ]);
  });

  it.each([
    ['{', 'pairs.ndjson:2: not JSON'],
    [line('2', { verdict: 'maybe' }), 'pairs.ndjson:2: verdict'],
    [line('2', { references: [] }), 'pairs.ndjson:2: references'],
    [line('2', { references: ['horse '.repeat(1_000)] }), 'pairs.ndjson:2: references/0'],
  ])('names the line of %.40s', (bad, message) => {
    expect(() => parse(line('1'), bad)).toThrow(ScenedeltaError);
    expect(() => parse(line('1'), bad)).toThrow(message);
  });
});

describe('auditFeedback', () => {
  const same = { before: 'a.png', after: 'b.png' };

  it('counts equal feedback on equal frames once', () => {
    const { samples, leftOut } = auditFeedback(parse(line('1', same), line('2', same)), everything, 10);
    expect([ids(samples), leftOut.repeated]).toEqual([['1'], 1]);
  });

  it('counts feedback that contradicts itself not at all', () => {
    const lines = parse(line('1', same), line('2', { ...same, verdict: 'none' }), line('3'));
    const { samples, leftOut } = auditFeedback(lines, everything, 10);
    expect([ids(samples), leftOut.contradictory]).toEqual([['3'], 2]);
  });

  it('judges each region of a pair on its own', () => {
    const regionAt = (x: number) => [{ side: 'after', box: { x, y: 0.2, width: 0.1, height: 0.1 } }];
    const judged = (judgement: string, x: number) => ({ ...same, judgement, regions: regionAt(x) });
    const lines = parse(
      line('1', judged('correct', 0.1)),
      line('2', judged('false_alarm', 0.5)),
      line('3', judged('correct', 0.8)),
      line('4', judged('false_alarm', 0.8)),
    );
    const { samples, leftOut } = auditFeedback(lines, everything, 10);
    expect(samples.map(({ id, changed }) => [id, changed])).toEqual([
      ['1', true],
      ['2', false],
    ]);
    expect(leftOut.contradictory).toBe(2);
  });

  it('leaves out erased frames and tampering', () => {
    const lines = parse(line('1'), line('2'), line('3', { verdict: 'tamper' }));
    const { samples, leftOut } = auditFeedback(lines, (path) => !path.startsWith('2'), 10);
    expect([ids(samples), leftOut['frames missing'], leftOut.tampering]).toEqual([['1'], 1, 1]);
  });

  it('keeps the latest of each camera if there are too many', () => {
    const many = Array.from({ length: 100_000 }, (_, i) => line(`${100_000 + i}`));
    const lines = parse(...many, line('000001', { scene: 'yard' }));
    const { samples, leftOut } = auditFeedback(lines, everything, 5);
    expect(ids(samples)).toEqual(['199996', '199997', '199998', '199999', '000001']);
    expect(leftOut['beyond the limit']).toBe(99_996);
  });
});

describe('splitByTime', () => {
  it('holds the latest quarter of each camera back', () => {
    const lines = parse(...Array.from({ length: 8 }, (_, i) => line(`${i}`, { scene: i % 2 ? 'gate' : 'yard' })));
    const { samples } = auditFeedback(lines, everything, 100);
    const { fit, heldBack } = splitByTime(samples.map((sample) => ({ sample })));
    expect(heldBack.map(({ sample }) => sample.id).sort()).toEqual(['6', '7']);
    expect(fit).toHaveLength(6);
  });
});
