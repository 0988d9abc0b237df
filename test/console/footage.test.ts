/** The page "Footage" in Chromium: a new batch, its progress, and its results on the video's timeline. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { newId } from '../../src/base/ids.js';
import { outputFiles } from '../../src/footage/outputs/files.js';
import type { FootageChange } from '../../src/footage/records.js';
import { type BatchRecord, batchPrefix, batchResultKey } from '../../src/stores/batches/batches.js';
import { change, recording } from '../footage/records.js';
import { ffmpeg } from '../footage/videos.js';
import { describeInBrowser, inspect } from '../helpers/browser.js';
import { useConsole } from '../helpers/console-service.js';
import { eventually } from '../helpers/eventually.js';
import { UPLOADS } from '../helpers/fake-app.js';

const BEGIN = '2026-06-01T12:00:00.000Z';
const END = '2026-06-01T14:00:00.000Z';
const HOSTILE = `<img src=x onerror="document.title='hit'">`;
const { open, service } = await useConsole({ footageLimit: 5_000_000 });
let folder: string;
let video: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sd-console-'));
  video = join(folder, '12.mp4');
  // A player needs some seconds to seek in.
  await ffmpeg(['-f', 'lavfi', '-i', 'testsrc=s=160x90:r=2:d=60', '-g', '4', '-pix_fmt', 'yuv420p', video]);
}, 60_000);
beforeEach(() => {
  service.batches.kept.clear();
});
afterAll(async () => {
  for (const path of [folder, UPLOADS]) await rm(path, { recursive: true, force: true });
});

const kept = () => [...service.batches.kept.values()];
const putBatch = async (given: Partial<BatchRecord> & { name?: string } = {}): Promise<string> => {
  const { name = 'yard.mp4', ...rest } = given;
  const id = newId('bat', Date.now());
  const request = { inputs: [], metadata: { name } } as unknown as BatchRecord['request'];
  await service.batches.create({ id, owner: 'local', createdAt: Date.now(), request });
  service.batches.kept.set(id, { ...(service.batches.kept.get(id) as BatchRecord), ...rest });
  return id;
};
const plan = {
  cameras: [{ camera: 'yard', files: 2, starts_at: BEGIN, ends_at: END, frames_expected: 7_200 }],
  failures: [{ camera: null, file: HOSTILE, code: 'video-unreadable', reason: HOSTILE }],
  warnings: [],
};
const progress = (minutes: number) => [
  {
    reached: new Date(Date.parse(BEGIN) + minutes * 60_000).toISOString(),
    ...{ done: false, frames: 60 * minutes, examined: 9, changes: 2, visits: 5, gaps: 1, failures: 0 },
  },
];
const complete = async (id: string, changes: readonly FootageChange[]) => {
  const files = outputFiles(recording(changes), { readPicture: async () => null });
  const captions: object[] = [];
  for (const { name, video: file, content } of files.filter((one) => !one.name.endsWith('.html'))) {
    let text = '';
    for await (const part of content()) text += part;
    const key = file === undefined ? name : `vtt-${captions.push({ name, video: file })}`;
    await service.blobs.put(batchResultKey(id, key), Buffer.from(text));
  }
  await service.blobs.put(batchResultKey(id, 'vtt.json'), Buffer.from(JSON.stringify(captions)));
  for (const { pictures } of changes) {
    for (const side of ['before', 'after'] as const) {
      if (pictures[side] === null) continue;
      await service.blobs.put(`${batchPrefix(id)}/${pictures[side]}`, readFileSync(`examples/${side}.jpg`));
    }
  }
  const batch = service.batches.kept.get(id) as BatchRecord;
  service.batches.kept.set(id, { ...batch, status: 'completed', finishedAt: Date.now(), plan });
};
const withPictures = (number: number, given: Partial<FootageChange> = {}) => {
  const { id } = change(number);
  return change(number, {
    pictures: { before: `pictures/${id}-before.jpg`, after: `pictures/${id}-after.jpg` },
    outlines: [
      {
        side: 'after',
        points: [
          [0.6, 0.3],
          [0.7, 0.3],
          [0.7, 0.7],
        ],
      },
    ],
    ...given,
  });
};
const rowsOf = (page: Page) => page.getByRole('listbox', { name: 'Changes' }).getByRole('option');

describeInBrowser('The page "Footage"', () => {
  it('uploads a video with its options, and shows its changes on the timeline, with both frames and captions', async () => {
    const { page, errors } = await open();
    await page.goto(`${service.url}/footage`);
    await page.getByLabel('Videos or pictures').setInputFiles(video);
    await page.getByLabel('Camera', { exact: true }).fill('yard');
    await page.getByLabel('Frames to look at').selectOption('10s');
    expect(await inspect(page, 'footage')).toEqual([]);
    await page.getByRole('button', { name: 'Find the changes' }).click();
    await page.getByText('queued').waitFor();
    const { id, request } = kept()[0] as BatchRecord;
    expect(request).toMatchObject({
      inputs: [{ from: 'upload', name: '12.mp4' }],
      ...{ camera: 'yard', every: { mode: 'seconds', seconds: 10 }, metadata: { name: '12.mp4' } },
    });
    expect(readFileSync(service.files.uploadOf(id, 1)).equals(readFileSync(video))).toBe(true);
    await complete(
      id,
      [1, 2, 3].map((number) => withPictures(number, { caption: `thing ${number} has appeared` })),
    );
    await rowsOf(page).first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.locator('[data-outline=after] .line').waitFor();
    expect(await page.locator('.detail .sentence').innerText()).toBe('thing 2 has appeared');
    await page.getByRole('img', { name: 'Frame before' }).first().waitFor();
    // Two seconds before the frame that shows it.
    const at = () => page.evaluate("document.querySelector('video').currentTime");
    await eventually(async () => expect(await at()).toBe(18));
    const cues = "[...document.querySelector('video').textTracks[0].cues ?? []].map((cue) => cue.text)";
    await eventually(async () =>
      expect(await page.evaluate(cues)).toEqual([1, 2, 3].map((number) => `thing ${number} has appeared`)),
    );
    const timeline = page.getByRole('slider', { name: /^Timeline/ });
    expect(await timeline.getAttribute('aria-valuetext')).toContain('thing 2 has appeared');
    await timeline.press('End');
    expect(await page.locator('.detail .sentence').innerText()).toBe('thing 3 has appeared');
    const download = page.getByRole('link', { name: 'Visits', exact: true });
    expect(await download.getAttribute('href')).toBe(`/v1/batches/${id}/results?format=visits`);
    expect(await inspect(page, 'footage-results')).toEqual([]);
    expect(errors).toEqual([]);
  });

  it('lists batches with their progress, speed and time left; cancels, retries and erases', async () => {
    await putBatch({ status: 'running', plan, progress: progress(0) });
    const { page, errors } = await open();
    await page.clock.install();
    await page.goto(`${service.url}/footage`);
    const row = page.getByRole('link', { name: /yard\.mp4/ });
    await row.getByText('the first frame is not done yet').waitFor();
    await row.getByText('0 of about 7,200 frames').waitFor();
    await row.getByText('5 visits').waitFor();
    const { id } = kept()[0] as BatchRecord;
    const seen = service.batches.kept.get(id) as BatchRecord;
    service.batches.kept.set(id, { ...seen, progress: progress(30) });
    await page.clock.fastForward(2_500);
    await row.getByText('25 %').waitFor();
    service.batches.kept.set(id, { ...seen, progress: progress(60) });
    await page.clock.fastForward(2_500);
    await row.getByText('50 %').waitFor();
    expect(await row.innerText()).toMatch(/frames per second, [\d.e+]+ × real time/);
    expect(await row.innerText()).toMatch(/\d+ s left/);
    await row.click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('cancelled').waitFor();
    expect(service.queue.cancelled).toEqual([id]);
    service.queue.held.add(id);
    const retry = page.getByRole('button', { name: 'Go on from its last step' });
    await retry.click();
    await page.getByText('A worker still ends its step').waitFor();
    service.queue.held.clear();
    await retry.click();
    await page.locator('.batch-status.running').waitFor();
    expect(service.queue.batches.at(-1)).toBe(id);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Erase …' }).click();
    await page.getByRole('button', { name: 'Erase it with its results' }).click();
    await page.getByText('No batch yet').waitFor();
    expect(kept()).toEqual([]);
    expect(errors).toEqual([]);
  });

  it('creates a batch by keyboard alone, from addresses, with the rules of a camera', async () => {
    const payload = { name: HOSTILE, min_area: 0.01 };
    await service.inject({ method: 'PUT', url: '/v1/cameras/gate', payload });
    const { page } = await open();
    await page.goto(`${service.url}/footage`);
    await page.getByRole('radio', { name: 'Files' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Tab');
    await page.keyboard.type('https://archive.example/yard.mp4');
    await page.getByRole('option', { name: `as ${HOSTILE}` }).waitFor({ state: 'attached' });
    const focused = () => page.evaluate("document.activeElement?.closest('label')?.innerText ?? ''");
    for (let presses = 0; presses < 20 && !String(await focused()).startsWith('Zones and rules'); presses++) {
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await eventually(() => expect(kept()).toHaveLength(1));
    expect(kept()[0]?.request).toMatchObject({
      inputs: [{ from: 'url', url: 'https://archive.example/yard.mp4' }],
      settings: { min_area: 0.01, snapshot: null },
    });
  });

  it('says what is wrong with a file, an address and a video, and sends no file above the limit', async () => {
    const { page } = await open();
    await page.goto(`${service.url}/footage`);
    const large = { name: 'large.mp4', mimeType: 'video/mp4', buffer: Buffer.alloc(6_000_000) };
    await page.getByLabel('Videos or pictures').setInputFiles(large);
    await page.getByRole('button', { name: 'Find the changes' }).click();
    await page.getByText(/large.mp4 has 5.7 MB; a recording may have at most 4.8 MB/).waitFor();
    await page.getByRole('radio', { name: 'Addresses' }).check();
    await page.getByLabel('Addresses, one per line').fill('s3://archive/day/');
    await page.getByRole('button', { name: 'Find the changes' }).click();
    await page.getByText(/inputs\/0/).waitFor();
    expect(kept()).toEqual([]);
    const id = await putBatch();
    await complete(id, [change(1)]);
    await page.goto(`${service.url}/footage/${id}`);
    await page.getByLabel('Play the recording from this computer').setInputFiles({ ...large, name: 'other.mp4' });
    await page.getByText('other.mp4 is not a recording of yard, expected yard/12.mp4, yard/13.mp4.').waitFor();
    await page.goto(`${service.url}/footage/bat_00000000000000000000000000`);
    await page.getByText('There is no batch bat_00000000000000000000000000').waitFor();
  });

  it('shows markup in names, captions and failures as text, and keeps few rows with 10,000 changes', async () => {
    const id = await putBatch({ name: HOSTILE });
    await complete(
      id,
      Array.from({ length: 10_000 }, (_, i) => change(i, { caption: `${i} ${HOSTILE}`, zone: HOSTILE })),
    );
    const { page, errors } = await open();
    await page.goto(`${service.url}/footage/${id}`);
    await page.getByText('10,000 changes').waitFor();
    await page.getByText('Inputs that could not be used').click();
    await page.getByRole('slider', { name: /^Timeline/ }).press('End');
    await eventually(async () => expect(await page.locator('.detail .sentence').innerText()).toBe(`9999 ${HOSTILE}`));
    expect(await rowsOf(page).count()).toBeLessThan(60);
    expect(Number(await page.evaluate("document.querySelectorAll('*').length"))).toBeLessThan(1_000);
    expect(await page.locator('main img[src=x]').count()).toBe(0);
    expect([await page.title(), errors]).toEqual([expect.stringMatching(/ · Footage · scenedelta$/), []]);
  });

  it('goes on after the service was away', async () => {
    const id = await putBatch({ status: 'running', plan, progress: progress(30) });
    const { page } = await open();
    await page.goto(`${service.url}/footage/${id}`);
    await page.getByText('25 %').waitFor();
    await service.goAway();
    await page.getByText('The service cannot be reached. Trying again').waitFor();
    await service.comeBack();
    await complete(id, [change(1)]);
    await rowsOf(page).first().waitFor();
  });
});
