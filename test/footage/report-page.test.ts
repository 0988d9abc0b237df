/** report.html in Chromium, opened as a file. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Recording } from '../../src/footage/outputs/recording.js';
import { reportPage } from '../../src/footage/outputs/report.js';
import sharp from '../../src/frames/sharp.js';
import { describeInBrowser, inspect, useBrowser } from '../helpers/browser.js';
import { DOCUMENTS } from '../helpers/documents.js';
import { change, moment, recording } from './records.js';

const open = useBrowser();
const HOSTILE = '</script><script>document.title = "run"</script><img src=x onerror="document.title = 1">';
let folder: string;
let picture: Uint8Array;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sd-report-'));
  picture = await sharp({ create: { width: 640, height: 360, channels: 3, background: 'teal' } })
    .jpeg()
    .toBuffer();
});
afterAll(() => rm(folder, { recursive: true }));

/** @returns the address of the page */
async function pageOf(made: Recording, name: string): Promise<string> {
  const parts: string[] = [];
  const options = { readPicture: async () => picture, documents: DOCUMENTS };
  for await (const part of reportPage(made, options)) parts.push(part);
  const file = join(folder, `${name}.html`);
  await writeFile(file, parts.join(''));
  return pathToFileURL(file).href;
}

/** Two cameras, two kinds, two days; each change has pictures of its own. */
function many(count: number): Recording {
  const changes = Array.from({ length: count }, (_, i) =>
    change(i, {
      camera: i % 4 === 0 ? 'gate' : 'yard',
      kind: i % 2 === 0 ? 'appear' : 'disappear',
      caption: i === 1 ? HOSTILE : `thing number ${i} has changed`,
      first_seen: moment((i * 2 * 86_400) / count),
      pictures: { before: `before-${i}.jpg`, after: `after-${i}.jpg` },
    }),
  );
  const made = recording(changes);
  const [camera] = made.summary.cameras;
  if (camera === undefined) throw new Error('the recording has a camera');
  return { ...made, summary: { ...made.summary, cameras: [camera, { ...camera, camera: 'gate' }] } };
}

describeInBrowser('report.html in a browser', () => {
  it('shows every change as text, requests nothing, and has no fault for axe at both widths and schemes', async () => {
    const { page, errors } = await open();
    const requests: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith('data:')) requests.push(request.url());
    });
    const address = await pageOf(many(12), 'few');
    await page.goto(address);
    expect(await page.locator('#count').textContent()).toBe('12 of 12 changes');
    expect(await page.locator('.card h3').nth(1).textContent()).toBe(HOSTILE);
    expect(await page.title()).toBe('Changes in footage');
    await page.locator('.card img').first().waitFor();
    expect(await page.evaluate("document.querySelector('.card img').decode().then(() => true)")).toBe(true);
    expect(await inspect(page, 'report')).toEqual([]);
    // On paper every picture is there, also those far from the view.
    await page.pdf();
    expect(await page.locator('.card img[src]').count()).toBe(24);
    expect(requests).toEqual([address]);
    expect(errors).toEqual([]);
  });

  it('filters by camera, kind, day and text, and follows the keys', async () => {
    const { page, errors } = await open();
    await page.goto(await pageOf(many(12), 'filters'));
    const count = () => page.locator('#count').textContent();
    await page.selectOption('#camera', 'gate');
    expect(await count()).toBe('3 of 12 changes');
    await page.selectOption('#camera', '');
    await page.selectOption('#kind', 'disappear');
    expect(await count()).toBe('6 of 12 changes');
    await page.selectOption('#day', '2026-06-01');
    expect(await count()).toBe('1 of 12 changes');
    await page.selectOption('#kind', '');
    await page.selectOption('#day', '');
    await page.keyboard.press('Escape');
    await page.locator('h1').click();
    await page.keyboard.press('/');
    await page.keyboard.type('NUMBER 11');
    expect(await count()).toBe('1 of 12 changes');
    const titles = page.locator('h2:visible');
    expect(await titles.allTextContents()).toEqual(['Timeline', 'Changes']);
    await page.fill('#text', 'no change');
    expect(await titles.allTextContents()).toEqual(['Timeline']);
    await page.fill('#text', '');
    await page.locator('#timeline').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    expect(await page.locator('.card.current h3').textContent()).toBe(HOSTILE);
    await page.uncheck('#outlines');
    expect(await page.locator('.frame svg').first().isVisible()).toBe(false);
    expect(errors).toEqual([]);
  });

  it('shows a thousand changes, and loads pictures only near the view', async () => {
    const { page, errors } = await open();
    await page.goto(await pageOf(many(1000), 'thousand'));
    expect(await page.locator('#count').textContent()).toBe('1000 of 1000 changes');
    await page.locator('.card img[src]').first().waitFor();
    const loaded = () => page.locator('.card img[src]').count();
    expect(await loaded()).toBeLessThan(100);
    const last = page.locator('.card').last();
    await last.scrollIntoViewIfNeeded();
    await last.locator('img[src]').first().waitFor();
    expect(await loaded()).toBeLessThan(300);
    expect(errors).toEqual([]);
  }, 120_000);
});
