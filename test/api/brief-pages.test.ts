/** GET /v1/brief as Markdown and HTML. */
import { describe, expect, it } from '@jest/globals';
import type { BriefCamera, BriefData } from '../../src/schemas/documents.js';
import { dataOf } from '../helpers/documents.js';
import { storedVisit } from '../helpers/visits.js';
import { ask, at, camera, change, DAY, fake, HOUR, setNow } from './brief-service.js';

const pageOf = async (query: string) => dataOf<BriefData>((await ask(`${query}&format=html`)).body);
const linesOf = (cameras: readonly BriefCamera[]) =>
  cameras.flatMap(({ sections }) => sections.flatMap(({ lines }) => lines));

describe('the pages of a brief', () => {
  const EVIL = '<script>alert(1)</script> [x](javascript:alert(1)) *b* `c` & "q"\n# H';

  it('are chosen by format, otherwise by Accept', async () => {
    const typeOf = async (query: string, accept?: string) => (await ask(query, accept)).headers['content-type'];
    expect(await typeOf('')).toContain('application/json');
    expect(await typeOf('', 'text/html,application/xhtml+xml,*/*;q=0.8')).toBe('text/html; charset=utf-8');
    expect(await typeOf('', 'text/markdown')).toBe('text/markdown; charset=utf-8');
    expect(await typeOf('?format=json', 'text/html')).toContain('application/json');
    expect(await typeOf('?format=markdown', 'text/html')).toContain('text/markdown');
  });

  it('have the lines of the lists, with times of the zone and links', async () => {
    camera('gate', { name: 'North gate' });
    const { id } = change(at('08:00'), { status: 'reverted', reverted_at: at('12:30') });
    for (const clock of ['09:00', '10:00']) change(at(clock), { caption: 'a van has appeared in loading bay 2' });
    change(at('22:00', '2026-01-04'), { caption: 'a bag has appeared', status: 'reverted', reverted_at: at('07:00') });
    fake.days.spans.push({ reason: 'gap', from: Date.parse(at('02:00')), until: Date.parse(at('03:30')) });
    const { body } = await ask(`?day=${DAY}&format=markdown&tz=Europe/Berlin`);
    expect(body).toContain('## North gate (gate)\n\n2026-01-05, Europe/Berlin\n');
    expect(body).toContain(
      `### Came (3)\n\n- 09:00, until 13:30: a car has appeared [show](https://sd.example/v1/changes/${id})\n` +
        '- 10:00 to 11:00 (2 times): a van has appeared in loading bay 2 [show the last](',
    );
    expect(body).toContain('- 08:00: The bag has gone, after 9 hours. [show](');
    expect(body).toContain('### Not seen (1 h 30 min)\n\n- 03:00 to 04:30: No frame came.\n');
    const { cameras } = await pageOf(`?day=${DAY}&tz=Europe/Berlin`);
    expect(linesOf(cameras)).toContainEqual({
      text: '08:00: The bag has gone, after 9 hours.',
      link: { text: 'show', url: expect.stringMatching(/^https:\/\/sd\.example\/v1\/changes\//) },
    });
  });

  it('begin with the visits of the day and the passages per hour, in the time of the zone', async () => {
    const begun = (clock: string, given: Parameters<typeof storedVisit>[0] = {}) => {
      const visit = storedVisit({ name: clock, begun: Date.parse(at(clock)), ...given });
      fake.visits.kept.push(visit);
      return visit;
    };
    const { id, caption } = begun('08:00');
    begun('09:00', { status: 'open', gone: null, end: null });
    for (const clock of ['10:15', '10:45', '22:59', '23:30']) begun(clock, { kind: 'passage' });
    const query = `?day=${DAY}&format=markdown&tz=Europe/Berlin`;
    const { body } = await ask(query);
    expect(body).toContain(
      `### Visits (2)\n\n- Per hour: 09:00: 1, 10:00: 1\n- 09:00: ${caption} [show](https://sd.example/v1/visits/${id})`,
    );
    expect(body).toContain('- 10:00 still there: a person');
    // The last one is of the next day there.
    expect(body).toContain('### Passages per hour\n\n- 11:00: 2, 23:00: 1\n');
    expect((await ask(query.replace('Europe/Berlin', 'Asia/Kolkata'))).body).toContain('15:00: 1, 16:00: 1\n');
    expect(body).not.toContain('Nothing changed');
    const [shown] = (await pageOf(query.replace('&format=markdown', ''))).cameras;
    const [visits = [], passages] = shown?.sections.map(({ hours }) => hours) ?? [];
    expect(visits).toHaveLength(24);
    expect([visits[9], visits[11]]).toEqual([
      { time: '09:00', count: 1 },
      { time: '11:00', count: 0 },
    ]);
    expect(passages?.[11]).toEqual({ time: '11:00', count: 2 });
  });

  it('name the offset of times in the hour that a clock change repeats', async () => {
    setNow(Date.parse('2026-10-26T12:00:00Z'));
    const from = Date.parse('2026-10-25T00:30:00Z');
    fake.days.spans.push({ reason: 'gap', from, until: from + HOUR });
    for (const format of ['markdown', 'html']) {
      const { body } = await ask(`?day=2026-10-25&format=${format}&tz=Europe/Berlin`);
      expect(body).toContain('02:30+02:00 to 02:30+01:00: No frame came.');
    }
    fake.days.spans[0] = { reason: 'gap', from: from - HOUR, until: from + 2 * HOUR };
    const { body } = await ask('?day=2026-10-25&format=markdown&tz=Europe/Berlin');
    expect(body).toContain('01:30 to 03:30: No frame came.');
  });

  it('say that nothing changed, and that there is no camera', async () => {
    expect((await ask(`?day=${DAY}&format=markdown`)).body).toBe(
      '# Daily brief\n\nNothing changed.\n\n## gate\n\n2026-01-05, UTC\n\n### Nothing changed\n',
    );
    fake.cameras.kept.clear();
    expect((await ask('?format=markdown')).body).toContain('There is no camera.');
    expect(await pageOf('?')).toMatchObject({ cameras: [], end: 'There is no camera.', back: null });
  });

  it('show names and sentences as text, on one line, and may load nothing and run their own script alone', async () => {
    camera('gate', { name: EVIL.replace('\n', ' ') });
    change(at('08:00'), { caption: EVIL });
    change(at('09:00'), { feedback: { judgement: 'correct', at: at('09:00'), caption: EVIL } });
    const html = await ask(`?day=${DAY}&format=html`);
    expect(html.body).not.toContain('<script>alert');
    expect(html.body.match(/\\u003cscript>alert\(1\)\\u003c\/script>/g)).toHaveLength(5);
    const policy = html.headers['content-security-policy'];
    expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; img-src data:; /);
    expect(policy).toContain("frame-ancestors 'self'");
    expect(html.headers['x-content-type-options']).toBe('nosniff');
    const { body } = await ask(`?day=${DAY}&format=markdown`);
    expect(body).toContain(
      '\\<script\\>alert(1)\\</script\\> \\[x\\](javascript:alert(1)) \\*b\\* \\`c\\` \\& "q" \\# H',
    );
    expect(body.split('\n').filter((line) => /^# /.test(line))).toEqual(['# Daily brief']);
  });
});
