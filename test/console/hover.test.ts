/** Thumbnails in Chromium: the frames before and after alternate below the pointer and the focus. */
import type { Locator, Page } from 'playwright-core';
import { describeInBrowser, inspect } from '../helpers/browser.js';
import { storedChange } from '../helpers/changes.js';
import { useConsole } from '../helpers/console-service.js';
import { eventually } from '../helpers/eventually.js';
import { storedVisit } from '../helpers/visits.js';

const { open, service } = await useConsole();
let comparison: string;
beforeEach(async () => {
  await service.inject({ method: 'PUT', url: '/v1/cameras/gate', payload: {} });
  comparison = await service.addComparison({}, 'gate');
});

const shows = (row: Locator, side: string) => row.locator(`img[src*="/${comparison}/frames/${side}?"]`);

/** @returns the paths of the frames "before" that were requested, as a list that grows */
function askedBefore(page: Page): string[] {
  const asked: string[] = [];
  page.on('request', (request) => request.url().includes('/frames/before') && asked.push(request.url()));
  return asked;
}

/** @returns reads the frames that the picture of the row has shown since */
async function watch(row: Locator): Promise<() => Promise<string[]>> {
  const image = await row.locator('img').elementHandle();
  const seen = await image?.evaluateHandle((element) => {
    const { MutationObserver } = globalThis as unknown as { MutationObserver: new (on: () => void) => Observer };
    const sides: string[] = [];
    const note = () =>
      sides.push((element as unknown as { src: string }).src.includes('/before?') ? 'before' : 'after');
    new MutationObserver(note).observe(element, { attributeFilter: ['src'] });
    return sides;
  });
  return async () => (await seen?.jsonValue()) ?? [];
}
interface Observer {
  observe(element: unknown, options: object): void;
}
const PLAYED = ['before', 'after', 'before', 'after', 'before', 'after'];

describeInBrowser('A thumbnail', () => {
  it('alternates on a camera below the pointer and with the focus, and requests nothing before', async () => {
    const { page, errors } = await open();
    const asked = askedBefore(page);
    await page.goto(`${service.url}/cameras`);
    const card = page.locator('.camera-card');
    await shows(card, 'after').waitFor();
    await page.waitForLoadState('networkidle');
    expect(asked).toEqual([]);
    const seen = await watch(card);
    await card.hover();
    await eventually(async () => expect(await seen()).toEqual(PLAYED));
    expect(asked).toHaveLength(1);
    await page.mouse.move(0, 0);
    await shows(card, 'after').waitFor();
    await page.getByRole('combobox', { name: 'Order' }).focus();
    await page.keyboard.press('Tab');
    await eventually(async () => expect(await seen()).toEqual([...PLAYED, ...PLAYED]));
    expect(await inspect(page, 'cameras-hover')).toEqual([]);
    expect(errors).toEqual([]);
  });

  it('alternates on the lines of changes and visits', async () => {
    const comparisons = { first: comparison, best: comparison, last: comparison };
    service.addChange(storedChange({ name: 'car', camera: 'gate', comparisons, confirmed: Date.now() }));
    const { regions, first_seen: at } = service.changes.kept[0] ?? { regions: [], first_seen: '' };
    const box = regions[0]?.box ?? { x: 0, y: 0, width: 1, height: 1 };
    const best = { comparison, side: 'after' as const, at, box };
    service.visits.kept.push(storedVisit({ begun: Date.now() - 3_600_000, path: [{ at, box }], best }));
    const { page, errors } = await open();
    const asked = askedBefore(page);
    await page.goto(`${service.url}/review`);
    const rows = page.getByRole('listbox', { name: 'Changes' }).getByRole('option');
    await eventually(async () => expect(await rows.count()).toBe(1));
    await page.getByLabel('Group by visit').uncheck();
    await shows(rows.first(), 'after').waitFor();
    await page.getByLabel('Group by visit').check();
    await shows(rows.first(), 'after').waitFor();
    await page.waitForLoadState('networkidle');
    expect(asked).toEqual([]);
    const visitSeen = await watch(rows.first());
    await rows.first().hover();
    await eventually(async () => expect(await visitSeen()).toEqual(PLAYED));
    await page.mouse.move(0, 0);
    await page.getByLabel('Group by visit').uncheck();
    await shows(rows.first(), 'after').waitFor();
    const changeSeen = await watch(rows.first());
    await page.getByRole('listbox').focus();
    await page.keyboard.press('j');
    await eventually(async () => expect(await changeSeen()).toEqual(PLAYED));
    expect(errors).toEqual([]);
  });

  it('shows the other frame without alternating if the reader wants less motion', async () => {
    const { page } = await open({ reducedMotion: 'reduce' });
    await page.goto(`${service.url}/cameras`);
    const card = page.locator('.camera-card');
    await shows(card, 'after').waitFor();
    const seen = await watch(card);
    await card.hover();
    await shows(card, 'before').waitFor();
    // Longer than a pause between two frames: the next rounds of reading the list have passed.
    await page.waitForResponse((response) => response.url().includes('/v1/cameras?'));
    expect(await seen()).toEqual(['before']);
    await page.mouse.move(0, 0);
    await shows(card, 'after').waitFor();
  });

  it('keeps its frame if the other one has been erased', async () => {
    const { page } = await open();
    await page.route('**/frames/before?*', (route) => route.fulfill({ status: 410 }));
    await page.goto(`${service.url}/cameras`);
    const card = page.locator('.camera-card');
    await shows(card, 'after').waitFor();
    const refused = page.waitForResponse((response) => response.url().includes('/frames/before'));
    await card.hover();
    await refused;
    await shows(card, 'after').waitFor();
  });
});
