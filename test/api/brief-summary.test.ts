/** The paragraph at the head of a brief. */
import { describe, expect, it } from '@jest/globals';
import type { Brief } from '../../src/schemas/brief.js';
import type { Visit } from '../../src/schemas/visit.js';
import { storedVisit } from '../helpers/visits.js';
import { ask, at, camera, change, DAY, fake } from './brief-service.js';

const summaryOf = async (query = '', locale = 'en') => {
  const { body } = await fake.inject({
    url: `/v1/brief?day=${DAY}${query}`,
    headers: { 'accept-language': locale },
  });
  return (JSON.parse(body) as Brief).summary;
};

function visit(clock: string, noun: string, given: Partial<Visit> = {}) {
  const { content, ...rest } = storedVisit({ name: `${noun} ${clock}`, begun: Date.parse(at(clock)), ...given });
  const thing = { noun, colour: noun === 'van' ? 'white' : 'red', count: 1, definite: false };
  fake.visits.kept.push({ ...rest, content: { ...content, thing } });
}

describe('the summary of a brief', () => {
  it('states visits near each other as one, and things that are still there, in the language of the reader', async () => {
    camera('gate', { name: 'Gate' });
    visit('23:10', 'person');
    visit('23:13', 'person');
    visit('06:40', 'van', { status: 'open', gone: null, end: null });
    expect(await summaryOf()).toBe(
      'A quiet day. A white van (Gate, since 06:40, still there); two people (Gate, 23:10 to 23:13).',
    );
    expect(await summaryOf('', 'de')).toBe(
      'Ein ruhiger Tag. Ein weißer Transporter (Gate, seit 06:40, noch da); zwei Personen (Gate, 23:10 bis 23:13).',
    );
    for (const [locale, text] of [
      ['es', 'desde las 06:40, sigue ahí'],
      ['fr', 'depuis 06:40, toujours là'],
      ['ja', '06:40から、まだある'],
    ] as const) {
      expect(await summaryOf('', locale)).toContain(text);
    }
    expect((await ask(`?day=${DAY}&format=markdown`)).body).toContain('# Daily brief\n\nA quiet day. A white van');
  });

  it('counts visits that may be of one thing as several, and names the busiest hour', async () => {
    visit('08:00', 'person', { identity: 'uncertain' });
    visit('08:01', 'person');
    for (const minute of ['10', '25', '40', '55']) visit(`14:${minute}`, 'car');
    const summary = await summaryOf();
    expect(summary).toMatch(
      /^6 visits, most of them between 14:00 and 15:00\. Several people \(gate, 08:00 to 08:01\)/,
    );
    expect(summary).toMatch(/And one more\.$/);
  });

  it('states the most severe changes of a camera without visits, and the time without a picture', async () => {
    change(at('09:00'), { caption: 'A bag has appeared.', severity: 'high' });
    change(at('08:00'));
    fake.days.spans.push({ reason: 'gap', from: Date.parse(at('02:00')), until: Date.parse(at('03:30')) });
    expect(await summaryOf()).toBe(
      'A quiet day. A car has appeared (gate, 08:00); A bag has appeared (gate, 09:00). Not seen: gate (1 h 30 min).',
    );
  });

  it('says that nothing changed, and nothing without a camera', async () => {
    expect(await summaryOf()).toBe('Nothing changed.');
    fake.cameras.kept.clear();
    expect(await summaryOf()).toBe('');
  });
});
