/** The page "Try" in Chromium, against the whole service with the small bundle. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { describeInBrowser, inspect, type Tab, useBrowser } from '../helpers/browser.js';
import { eventually } from '../helpers/eventually.js';
import { changedPair } from '../helpers/scenes.js';
import { newDataDir, type Service, startService } from '../helpers/service.js';

const open = useBrowser();
let service: Service;
let folder: string;
beforeAll(async () => {
  folder = newDataDir();
  const pair = await changedPair();
  for (const [name, bytes] of Object.entries(pair)) await writeFile(join(folder, `${name}.jpg`), bytes);
  service = await startService({ dataDir: folder });
}, 240_000);
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The link that `npm run up` prints. */
const link = () => /console +(http\S+)/.exec(service.output())?.[1] ?? '';
/** The link works once; the session that it begins is that of all tests. */
let session: Awaited<ReturnType<BrowserContext['storageState']>> | undefined;
const signedIn = async (): Promise<Tab> => {
  const tab = await open(session === undefined ? {} : { storageState: session });
  await tab.page.goto(session === undefined ? link() : service.url);
  await tab.page.getByRole('link', { name: 'Try' }).click();
  await tab.page.getByRole('heading', { name: 'What changed between two pictures?' }).waitFor();
  session ??= await tab.page.context().storageState();
  return tab;
};
const chooseFrames = async ({ page }: Tab) => {
  for (const side of ['before', 'after']) {
    await page.getByLabel(`File of the frame ${side}`).setInputFiles(join(folder, `${side}.jpg`));
  }
};

describeInBrowser('The page "Try"', () => {
  it('shows the first caption after three clicks: the link of `npm run up`, the page, and the example pair', async () => {
    const tab = await signedIn();
    expect(tab.page.url()).not.toContain('sign-in');
    await tab.page.getByRole('button', { name: 'Compare the example pair' }).click();
    await tab.page.getByRole('toolbar', { name: 'Words of the sentence' }).waitFor();
    expect(await tab.page.locator('.facts').innerText()).toMatch(/confidence/);
    expect(await inspect(tab.page, 'try-example')).toEqual([]);
    expect(tab.errors).toEqual([]);
  });

  it('works by keyboard alone: the example pair, each word, slider and blink', async () => {
    const { page } = await signedIn();
    const tabTo = async (selector: string) => {
      for (let presses = 0; presses < 40; presses++) {
        if (await page.locator(`${selector}:focus`).count()) return;
        await page.keyboard.press('Tab');
      }
      throw new Error(`${selector} cannot be reached by Tab`);
    };
    await tabTo('.try-actions button:not(.primary)');
    await page.keyboard.press('Enter');
    await page.locator('.word').first().waitFor();
    await tabTo('.word');
    await page.keyboard.press('ArrowRight');
    await eventually(async () => expect(await page.locator('.word[aria-pressed=true]').innerText()).toBe('the'));
    await page.keyboard.press('1');
    await tabTo('.pair-stack input');
    const clip = async () => String(await page.evaluate("document.querySelector('.pair-top').style.clipPath"));
    await eventually(async () => expect(await clip()).toContain('50%'));
    await page.keyboard.press('End');
    await eventually(async () => expect(await clip()).toContain('100%'));
    await page.keyboard.press('2');
    const shown = page.locator('.pair-stack[data-side]');
    // The key ends the alternation once the view listens to it; from then on the side changes by keys alone.
    await eventually(async () => {
      await page.keyboard.press('b');
      expect(await page.getByRole('button', { name: 'Alternate' }).isVisible()).toBe(true);
    });
    const first = await shown.getAttribute('data-side');
    await page.keyboard.press('b');
    await eventually(async () => expect(await shown.getAttribute('data-side')).not.toBe(first));
    await page.keyboard.press('3');
    await eventually(async () => expect(await page.locator('.pair-side figure').count()).toBe(2));
  });

  it('outlines the change of two chosen pictures, and the region of each word in both frames', async () => {
    const tab = await signedIn();
    await chooseFrames(tab);
    await tab.page.getByRole('button', { name: 'Compare', exact: true }).click();
    const outline = tab.page.locator('[data-outline=after] .line');
    await outline.waitFor();
    const change = await outline.getAttribute('d');
    await tab.page.getByRole('button', { name: 'Side by side' }).click();
    await tab.page.locator('.word').last().hover();
    await eventually(async () => expect(await outline.getAttribute('d')).not.toBe(change));
    await tab.page.locator('[data-outline=before] .line').waitFor();
    expect(await inspect(tab.page, 'try-word')).toEqual([]);
    expect(tab.errors).toEqual([]);
  });
});
