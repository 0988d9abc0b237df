/** The page "Footage" in Chromium: when one place changed, by a box that is drawn on a frame of the recording. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { PlaceInterval, PlaceSearch } from '../../src/schemas/place-search.js';
import { type BatchRecord, batchPictureKey, batchResultKey } from '../../src/stores/batches/batches.js';
import { moment } from '../footage/records.js';
import { ffmpeg } from '../footage/videos.js';
import { describeInBrowser, inspect } from '../helpers/browser.js';
import { useConsole } from '../helpers/console-service.js';
import { eventually } from '../helpers/eventually.js';
import { UPLOADS } from '../helpers/fake-app.js';
import { dragByMouse, dragByTouch, positionIn, tabTo } from '../helpers/gestures.js';

const { open, service } = await useConsole();
let folder: string;
let video: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sd-console-'));
  video = join(folder, '12.mp4');
  const coding = ['-c:v', 'libx264', '-g', '4', '-pix_fmt', 'yuv420p'];
  await ffmpeg([
    '-loop',
    '1',
    '-r',
    '2',
    '-t',
    '20',
    '-i',
    'examples/before.jpg',
    '-vf',
    'scale=640:-2',
    ...coding,
    video,
  ]);
}, 60_000);
beforeEach(() => {
  service.batches.kept.clear();
});
afterAll(async () => {
  for (const path of [folder, UPLOADS]) await rm(path, { recursive: true, force: true });
});

const HOSTILE = `<img src=x onerror="document.title='hit'">`;
const sent = () => [...service.batches.kept.values()][0] as BatchRecord;
const onFrame = (page: Page, x: number, y: number) =>
  positionIn(page.getByRole('group', { name: 'The place on the frame' }), { x, y });
/** Position of a button that is a shape on the frame. */
const handle = (page: Page, name: RegExp) => positionIn(page.getByRole('button', { name }));
const box = (x: number, y: number, width: number, height: number) => {
  const close = (value: number) => expect.closeTo(value, 1) as unknown as number;
  return { x: close(x), y: close(y), width: close(width), height: close(height) };
};

const interval = (name: string, second: number, caption: string): PlaceInterval => ({
  before: moment(second),
  after: moment(second + 1),
  exact: true,
  change: {
    ...{ kind: 'appear', caption, confidence: 0.93, outlines: [] },
    regions: [{ id: 1, side: 'after', box: { x: 0.62, y: 0.37, width: 0.1, height: 0.14 }, area: 0.01, score: 0.9 }],
  },
  pictures: { before: `pictures/${name}-before.jpg`, after: `pictures/${name}-after.jpg` },
});
/** Completes the batch as the search of a worker does. */
async function complete(found: Partial<PlaceSearch>): Promise<void> {
  const { id } = sent();
  const search: PlaceSearch = {
    ...{ v: 1, roi: { x: 0.6, y: 0.3, width: 0.2, height: 0.3 }, changed: null, changed_back: null },
    ...{ frames: 20, looks: 7, comparisons: 9, failures: [], covered: [], ...found },
  };
  await service.blobs.put(batchResultKey(id, 'changes.json'), Buffer.from(JSON.stringify(search)));
  for (const name of ['changed', 'changed-back']) {
    for (const side of ['before', 'after']) {
      await service.blobs.put(batchPictureKey(id, `${name}-${side}.jpg`), readFileSync(`examples/${side}.jpg`));
    }
  }
  const cameras = [
    {
      camera: 'yard',
      files: 1,
      starts_at: moment(0).at as string,
      ends_at: moment(20).at as string,
      frames_expected: null,
    },
  ];
  const plan = { cameras, failures: [], warnings: [] };
  service.batches.kept.set(id, { ...sent(), status: 'completed', finishedAt: Date.now(), plan });
}

describeInBrowser('A search for the moment at which a place changed', () => {
  it('takes a box that is drawn by mouse on the recording, and shows both intervals with their frames', async () => {
    const { page, errors } = await open();
    await page.goto(`${service.url}/footage`);
    await page.getByLabel('Videos or pictures').setInputFiles(video);
    await page.getByRole('radio', { name: 'When one place changed' }).check();
    const find = page.getByRole('button', { name: 'Find the moment' });
    const seek = page.getByLabel(/^Frame at/);
    await seek.fill('10');
    await eventually(async () => expect(await page.evaluate("document.querySelector('video').currentTime")).toBe(10));
    expect(await find.isDisabled()).toBe(true);
    await dragByMouse(page, await onFrame(page, 0.2, 0.2), await onFrame(page, 0.5, 0.6));
    await dragByMouse(page, await handle(page, /^Lower right corner/), await onFrame(page, 0.4, 0.5));
    await dragByMouse(page, await handle(page, /^The place/), await onFrame(page, 0.7, 0.45));
    expect(await inspect(page, 'footage-place')).toEqual([]);
    await page.getByLabel('Frames to choose from').selectOption('10s');
    await page.getByLabel('Not before').fill('2s');
    await page.getByLabel('Not after').fill('00:00:18');
    await find.click();
    await page.getByText('queued').waitFor();
    expect(sent().request).toMatchObject({
      inputs: [{ from: 'upload', name: '12.mp4' }],
      when: {
        place: box(0.6, 0.3, 0.2, 0.3),
        between: { from: { seconds: 2 }, until: { seconds: 18 } },
        ...{ every: 10, covered: 60 },
      },
    });
    await complete({
      changed: interval('changed', 4, `a parcel has appeared ${HOSTILE}`),
      changed_back: { ...interval('changed-back', 12, 'a parcel has disappeared'), exact: false },
    });
    await page.getByText(`a parcel has appeared ${HOSTILE}`).waitFor();
    await page.getByText(/12:00:04\D+12:00:05/).waitFor();
    await page.locator('[data-outline=after] .line').waitFor();
    for (const side of ['before', 'after']) await page.getByRole('img', { name: `Frame ${side}` }).waitFor();
    expect(await page.getByRole('link', { name: 'CSV' }).count()).toBe(0);
    expect(await inspect(page, 'footage-search')).toEqual([]);
    await page.getByRole('button', { name: 'It became as it was' }).click();
    await page.getByText('a parcel has disappeared').waitFor();
    await page.getByText(/The place is covered in the frames between them/).waitFor();
    expect([await page.title(), errors]).toEqual([expect.stringMatching(/ · Footage · scenedelta$/), []]);
  });

  it('takes a box that is drawn by touch', async () => {
    const { page } = await open({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 900 } });
    await page.goto(`${service.url}/footage`);
    await page.getByLabel('Videos or pictures').setInputFiles(video);
    await page.getByRole('radio', { name: 'When one place changed' }).check();
    await page.getByLabel(/^Frame at/).waitFor();
    await page.getByText('Draw a box around the place.').scrollIntoViewIfNeeded();
    await dragByTouch(page, await onFrame(page, 0.1, 0.1), await onFrame(page, 0.5, 0.5));
    await dragByTouch(page, await handle(page, /^Upper left corner/), await onFrame(page, 0.2, 0.3));
    // On a busy machine a tap may last so long that the browser takes it for a long press, which is no click.
    await page.getByRole('button', { name: 'Find the moment' }).click();
    await page.getByText('queued').waitFor();
    expect(sent().request.when?.place).toEqual(box(0.2, 0.3, 0.3, 0.2));
  });

  it('takes a box by keyboard alone, on the last frame of a camera, for a recording at an address', async () => {
    await service.inject({ method: 'PUT', url: '/v1/cameras/gate', payload: {} });
    await service.addComparison({}, 'gate');
    const { page } = await open();
    await page.goto(`${service.url}/footage`);
    await page.getByRole('radio', { name: 'Files' }).waitFor();
    await tabTo(page, /^Files$/);
    await page.keyboard.press('ArrowRight');
    await tabTo(page, /^Addresses, one per line/);
    await page.keyboard.type('https://archive.example/yard.mp4');
    await tabTo(page, /^Every change$/);
    await page.keyboard.press('ArrowDown');
    await page.getByRole('option', { name: 'gate', exact: true }).waitFor({ state: 'attached' });
    await tabTo(page, /^or the last frame of/);
    await page.keyboard.press('g');
    await tabTo(page, /^Put a box in the middle/);
    await page.keyboard.press('Enter');
    // The shapes come before the button that made them: the corner at the lower left is the last one.
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+ArrowRight');
    await page.keyboard.press('Shift+ArrowDown');
    for (let i = 0; i < 4; i++) await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('ArrowLeft');
    await tabTo(page, /^Find the moment/);
    await page.keyboard.press('Enter');
    const place = { x: 0.445, y: 0.4, width: 0.15, height: 0.25 };
    await page.getByText('queued').waitFor();
    expect(sent().request.when?.place).toEqual(place);
    expect(sent().request.inputs).toEqual([{ from: 'url', url: 'https://archive.example/yard.mp4' }]);
  });

  it('asks for a picture of the view if the browser cannot show the recording, and says why a search is refused', async () => {
    const { page, errors } = await open();
    await page.goto(`${service.url}/footage`);
    const unreadable = { name: '13.mkv', mimeType: 'video/x-matroska', buffer: Buffer.from('no video') };
    await page.getByLabel('Videos or pictures').setInputFiles(unreadable);
    await page.getByRole('radio', { name: 'When one place changed' }).check();
    await page.getByText('The browser cannot show this file. Choose a picture of the same view.').waitFor();
    const picture = join(folder, 'view.jpg');
    await writeFile(picture, readFileSync('examples/before.jpg'));
    await page.getByLabel('A picture of the view').setInputFiles(picture);
    await page.getByRole('button', { name: 'Put a box in the middle' }).click();
    await page.getByRole('button', { name: 'Remove the box' }).click();
    await dragByMouse(page, await onFrame(page, 0.9, 0.9), await onFrame(page, 0.6, 0.7));
    await page.getByLabel('Not before').fill('20s');
    await page.getByLabel('Not after').fill('10s');
    await page.getByRole('button', { name: 'Find the moment' }).click();
    await page.getByText('between is 20s, 10s, expected two times, the earlier one first').waitFor();
    expect(service.batches.kept.size).toBe(0);
    await page.getByLabel('Not before').fill('');
    await page.getByLabel('Not after').fill('');
    await page.getByRole('button', { name: 'Find the moment' }).click();
    await page.getByText('queued').waitFor();
    expect(sent().request.when?.place).toEqual(box(0.6, 0.7, 0.3, 0.2));
    await complete({ failures: [{ file: HOSTILE, code: 'video-unreadable', reason: 'no video stream' }] });
    await page.getByText('No change was found at this place.').waitFor();
    await page.getByText('Inputs that could not be used').click();
    await page.getByText(`${HOSTILE}: no video stream`).waitFor();
    expect(errors).toEqual([]);
  });
});
