/** report.html as text; the page in a browser is tested in report-page.test.ts. */
import { createHash } from 'node:crypto';
import type { Recording } from '../../src/footage/outputs/recording.js';
import { type ReportOptions, reportPage } from '../../src/footage/outputs/report.js';
import sharp from '../../src/frames/sharp.js';
import type { ReportData } from '../../src/schemas/documents.js';
import { blockOf, DOCUMENTS, dataOf } from '../helpers/documents.js';
import { change, moment, recording } from './records.js';

const HOSTILE = '</script><script>alert(1)</script><img src=x onerror="alert(2)"><!--';
const picture = () =>
  sharp({ create: { width: 1280, height: 720, channels: 3, background: 'teal' } })
    .jpeg()
    .toBuffer();

async function pageOf(made: Recording, readPicture: ReportOptions['readPicture'] = async () => null) {
  let text = '';
  for await (const part of reportPage(made, { readPicture, documents: DOCUMENTS })) text += part;
  return text;
}
const sha256 = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

describe('report.html', () => {
  it('needs no network: its policy allows its own script and style, embedded pictures and films beside it alone', async () => {
    const page = await pageOf(recording([change(1)]));
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1] ?? '';
    const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(page) ?? [];
    const [, script = ''] = /<script type="module">([\s\S]*?)<\/script>/.exec(page) ?? [];
    expect(policy.split('; ')).toEqual([
      "default-src 'none'",
      `script-src ${sha256(script)}`,
      `style-src ${sha256(style)}`,
      'img-src data:',
      "media-src 'self' file:",
      "base-uri 'none'",
      "form-action 'none'",
    ]);
    const markup = page.replace(script, '');
    expect(markup.match(/\s(?:src|href|action)=|@import|url\(/g)).toBeNull();
    expect(script.match(/\bimport\b|\bfetch\b|XMLHttpRequest|https?:\/\/(?!www\.w3\.org\/)/g)).toBeNull();
  });

  it('has its texts in the language of its sentences', async () => {
    const made = recording([change(1)]);
    const [camera] = made.summary.cameras;
    if (camera === undefined) throw new Error('the recording has a camera');
    const settings = { ...camera.settings, locale: 'de' as const };
    const page = await pageOf({ ...made, summary: { ...made.summary, cameras: [{ ...camera, settings }] } });
    expect(page).toContain('<html lang="de">');
    expect(page).toContain('<title>Änderungen in den Aufnahmen</title>');
    const { summary, changes, texts } = dataOf<ReportData>(page);
    expect(summary).toContain('1 Änderung · ');
    expect(changes[0]?.facts.map(([name]) => name)).toEqual(expect.arrayContaining(['zuletzt gesehen', 'Schwere']));
    expect(texts.shown).toBe('{n} von {all} Änderungen');
  });

  it('names and captions with markup stay text', async () => {
    const made = recording([change(1, { caption: HOSTILE, camera: HOSTILE, zone: HOSTILE })]);
    const [failure] = made.failures;
    const page = await pageOf({
      ...made,
      summary: {
        ...made.summary,
        scenedelta: HOSTILE,
        cameras: made.summary.cameras.map((camera) => ({ ...camera, camera: HOSTILE })),
      },
      failures: failure === undefined ? [] : [{ ...failure, file: HOSTILE, reason: HOSTILE }],
    });
    expect(page).not.toContain('<script>alert');
    expect(page).not.toContain('<img');
    expect(page).not.toContain('<!--');
    expect(dataOf<ReportData>(page).changes[0]).toMatchObject({ caption: HOSTILE, camera: HOSTILE });
  });

  it('embeds each picture once, as a small JPEG, and lists a change whose picture is gone', async () => {
    const bytes = await picture();
    const changes = [
      change(1, { pictures: { before: 'pictures/a.jpg', after: 'pictures/b.jpg' } }),
      change(2, { pictures: { before: 'pictures/a.jpg', after: 'pictures/gone.jpg' } }),
      change(3, { pictures: { before: 'pictures/broken.jpg', after: null } }),
    ];
    const page = await pageOf(recording(changes), async (path) => {
      if (path.includes('gone')) return null;
      return path.includes('broken') ? new Uint8Array([1, 2, 3]) : bytes;
    });
    const shown = dataOf<ReportData>(page).changes.map(({ pictures }) => pictures.map(({ picture }) => picture));
    expect(shown).toEqual([
      [0, 1],
      [0, null],
      [null, null],
    ]);
    // Two pictures, and a crop of the only change whose picture is there.
    expect(page.match(/id="picture-/g)).toHaveLength(3);
    const { strip, lead } = dataOf<ReportData>(page);
    expect(strip).toEqual([
      { entry: changes[0]?.id, picture: 2, text: expect.stringContaining(changes[0]?.caption ?? '') },
    ]);
    expect(lead).toMatch(/^3 changes\. /);
    expect((await sharp(Buffer.from(blockOf(page, 'picture-2') ?? '', 'base64')).metadata()).format).toBe('jpeg');
    const embedded = await sharp(Buffer.from(blockOf(page, 'picture-0') ?? '', 'base64')).metadata();
    expect([embedded.format, embedded.width, embedded.height]).toEqual(['jpeg', 560, 315]);
  });

  it('shows contours if there are some, and otherwise the boxes of the regions, on the side that they lie on', async () => {
    const points: [number, number][] = [
      [0.1, 0.1],
      [0.2, 0.1],
      [0.1, 0.2],
    ];
    const data = dataOf<ReportData>(
      await pageOf(recording([change(1), change(2, { outlines: [{ side: 'before', points }] })])),
    );
    const outlines = data.changes.map(({ pictures }) => pictures.map(({ outline }) => outline));
    expect(outlines).toEqual([
      ['', 'M0.6 0.3h0.1v0.4h-0.1Z'],
      ['M0.1 0.1L0.2 0.1L0.1 0.2Z', ''],
    ]);
  });

  it("shows times in the camera's time zone, with days and gaps", async () => {
    const made = recording([change(1, { first_seen: moment(11 * 3600) })]);
    const cameras = made.summary.cameras.map((camera) => ({ ...camera, timezone: 'Asia/Tokyo' }));
    const data = dataOf<ReportData>(await pageOf({ ...made, summary: { ...made.summary, cameras } }));
    expect(data.changes[0]?.when).toBe('2026-06-02 08:00:00 Asia/Tokyo');
    expect(data.days).toEqual(['2026-06-02']);
    expect(data.cameras[0]).toMatchObject({ from: '2026-06-01 21:00:00 Asia/Tokyo' });
    const [[begin = 0, end = 0] = []] = data.cameras[0]?.gaps ?? [];
    expect(end - begin).toBe(3_600_000);
  });

  it('without capture times puts the files one after the other, and shows positions in them', async () => {
    const untimed = (seconds: number, file: string) => ({ ...moment(seconds, file), at: null });
    const made = recording([
      change(1, { first_seen: untimed(75, 'yard/13.mp4'), last_seen: untimed(80, 'yard/13.mp4') }),
    ]);
    const cameras = made.summary.cameras.map((camera) => ({
      ...camera,
      files: camera.files.map((file) => ({ ...file, at: null })),
    }));
    const data = dataOf<ReportData>(await pageOf({ ...made, gaps: [], summary: { ...made.summary, cameras } }));
    expect(data.changes[0]).toMatchObject({ when: 'yard/13.mp4, 0:01:15', time: 3_675_000, day: '' });
    expect(data.cameras[0]).toMatchObject({ span: [0, 7_200_000], from: '0:00:00', to: '2:00:00' });
    expect(data.days).toEqual([]);
  });

  it('mentions that a run was ended early', async () => {
    const made = recording([]);
    const noticeOf = async (complete: boolean) =>
      dataOf<ReportData>(await pageOf({ ...made, summary: { ...made.summary, complete } })).incomplete;
    expect(await noticeOf(true)).toBeNull();
    expect(await noticeOf(false)).toContain('ended before the last frame');
  });
});
