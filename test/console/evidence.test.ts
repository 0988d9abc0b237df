/** The evidence of a change, downloaded from Review in Chromium, and its page opened without a service. */
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';
import { openPromise } from 'yauzl';
import { describeInBrowser, inspect } from '../helpers/browser.js';
import { storedChange } from '../helpers/changes.js';
import { useConsole } from '../helpers/console-service.js';
import { eventually } from '../helpers/eventually.js';

const { open, service } = await useConsole();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sd-evidence-'));
});
afterAll(() => rm(folder, { recursive: true }));

describeInBrowser('Evidence', () => {
  it('of a change is downloaded from Review, and its page shows the frames', async () => {
    const comparison = await service.addComparison({}, 'gate');
    const change = storedChange({ comparisons: { first: comparison, best: comparison, last: comparison } });
    service.addChange(change);
    await service.inject({ method: 'PUT', url: '/v1/cameras/gate', payload: {} });
    const { page, errors } = await open();
    await page.goto(`${service.url}/review/${change.id}`);
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'signed package' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe(`evidence-${change.id}.zip`);
    const zip = await openPromise(await download.path());
    for await (const entry of zip.eachEntry()) {
      const file = join(folder, entry.fileName);
      await mkdir(dirname(file), { recursive: true });
      await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(file));
    }
    await page.goto(pathToFileURL(join(folder, 'index.html')).href);
    const widths = () => page.evaluate('[...document.images].map((one) => one.naturalWidth)');
    await eventually(async () => expect(await widths()).toEqual([768, 768]));
    expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toContain(`Comparison ${comparison}`);
    expect(await inspect(page, 'evidence')).toEqual([]);
    expect(errors).toEqual([]);
  });
});
