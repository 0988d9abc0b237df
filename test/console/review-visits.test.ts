/** The page "Review" in Chromium, grouped by visit. */

import type { Page } from 'playwright-core';
import { streamEvent } from '../../src/schemas/stream-event.js';
import { describeInBrowser, inspect } from '../helpers/browser.js';
import { storedChange } from '../helpers/changes.js';
import { useConsole } from '../helpers/console-service.js';
import { eventually } from '../helpers/eventually.js';
import { storedVisit } from '../helpers/visits.js';

const { open, service } = await useConsole();
let comparison: string;
beforeEach(async () => {
  comparison = await service.addComparison();
});

const NOW = Date.now();
const WHOLE = { x: 0, y: 0, width: 1, height: 1 };
const rowsOf = (page: Page) => page.getByRole('listbox', { name: 'Changes' }).getByRole('option');

describeInBrowser('The page "Review", grouped by visit', () => {
  it('has one line each, with the frame that shows it best and the changes of it', async () => {
    for (let i = 0; i < 3; i++) {
      const comparisons = { first: comparison, best: comparison, last: comparison };
      service.addChange(storedChange({ name: `thing ${i}`, confirmed: NOW - i * 60_000, camera: 'gate', comparisons }));
    }
    const [inside, ...others] = service.changes.kept;
    if (inside === undefined) throw new Error('changes are added');
    const { box } = inside.regions[0] ?? {};
    if (box === undefined) throw new Error('a change has a region');
    const path = [{ at: inside.first_seen, box }];
    const best = { comparison, side: 'after' as const, at: inside.first_seen, box };
    const visit = storedVisit({ begun: NOW - 20_000, path, best, status: 'open', end: null, gone: null });
    service.visits.kept.push(visit);
    const { page, errors } = await open();
    await page.goto(`${service.url}/review`);
    await page.getByText('1 visit, and 2 changes, live').waitFor();
    const row = rowsOf(page).filter({ hasText: visit.caption });
    for (const text of ['gate', 'still there', '1 change']) expect(await row.innerText()).toContain(text);
    expect(await rowsOf(page).count()).toBe(1 + others.length);
    await row.click();
    await page.locator('[data-outline=visit] .line').first().waitFor();
    const picture = page.getByAltText('The visit where it is seen best');
    await eventually(async () =>
      expect(
        await picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth),
      ).toBeGreaterThan(0),
    );
    expect(await inspect(page, 'review-visit')).toEqual([]);

    // An open visit goes on without an event.
    service.visits.kept[0] = { ...visit, caption: 'a person in red is still there at the gate' };
    await rowsOf(page).filter({ hasText: 'still there at the gate' }).waitFor();
    service.visits.kept[0] = { ...visit, status: 'ended', caption: 'a person in red left to the right' };
    const { id, camera } = visit;
    service.events.tell(
      streamEvent({ type: 'visit.ended', camera, at: visit.last_seen, subject: { kind: 'visit', id } }),
    );
    await rowsOf(page).filter({ hasText: 'a person in red left to the right' }).waitFor();
    await page.getByRole('list', { name: 'Changes of this visit' }).getByRole('link').click();
    await page.getByRole('toolbar', { name: 'Actions' }).waitFor();
    expect(page.url()).toContain(`/review/${inside.id}`);
    await page.getByLabel('Group by visit').uncheck();
    await eventually(async () => expect(await rowsOf(page).count()).toBe(3));
    await page.goto(`${service.url}/review/vis_00000000000000000000000000`);
    await page.getByText('There is no visit vis_00000000000000000000000000').waitFor();
    expect(errors).toEqual([]);
  });

  it('shows its day as a line that is dragged by pointer and keys, and plays what was there', async () => {
    const day = '2026-06-01';
    const local = (clock: string) => Date.parse(`${day}T${clock}:00+02:00`);
    const box = { x: 0.4, y: 0.4, width: 0.1, height: 0.2 };
    const best = { comparison, side: 'after' as const, at: new Date(local('06:40')).toISOString(), box };
    const van = storedVisit({ name: 'van', begun: local('06:40'), best, caption: 'a white van came' });
    const person = storedVisit({ begun: local('18:00'), best, caption: 'a person came' });
    service.visits.kept.push(van, person);
    const { page, errors } = await open({ timezoneId: 'Europe/Berlin' });
    await page.goto(`${service.url}/?day=${day}`);
    const line = page.getByRole('slider', { name: 'Time of the day' });
    await eventually(async () => expect(await page.locator('.day-line-mark').count()).toBe(2));
    const { x = 0, y = 0, width = 0 } = (await line.boundingBox()) ?? {};
    const to = (hours: number) => x + (width * hours) / 24;
    await page.mouse.move(to(3), y + 10);
    await page.mouse.down();
    await page.mouse.move(to(6.75), y + 10, { steps: 4 });
    await page.mouse.up();
    expect(await line.getAttribute('aria-valuetext')).toMatch(/^6:45 AM, gate: a white van came$/);
    const film = page.locator('.film img');
    // The frames of the only visit that is near take turns, because none came at that time.
    const playing = new Set<string>();
    await eventually(async () => {
      playing.add(/frames\/(\w+)/.exec((await film.getAttribute('src')) ?? '')?.[1] ?? '');
      expect(playing).toEqual(new Set(['before', 'after']));
    });
    await page.mouse.move(0, 0);
    await line.focus();
    for (let hours = 7; hours < 18; hours++) await page.keyboard.press('PageUp');
    await page.keyboard.press('Shift+ArrowRight');
    await page.keyboard.press('ArrowLeft');
    expect(await line.getAttribute('aria-valuetext')).toMatch(/^6:40 PM, gate: a person came$/);
    expect(await inspect(page, 'review-day')).toEqual([]);
    await line.press('Enter');
    await page.waitForURL(`**/review/${person.id}?day=${day}`);
    await page.getByRole('button', { name: 'False alarm' }).click();
    await eventually(() => expect(person.feedback?.judgement).toBe('false_alarm'), 8_000);
    await page.getByText('false alarm').first().waitFor();
    await page.keyboard.press('u');
    await eventually(() => expect(person.feedback).toBeNull());
    await page.getByRole('button', { name: 'Day before' }).click();
    await page.waitForURL('**?day=2026-05-31');
    expect(errors).toEqual([]);
  });

  it('reads what is earlier when its day is dragged there, on a day with 25 hours as well', async () => {
    const midnight = Date.parse('2026-10-25T00:00:00+02:00');
    const comparisons = { first: comparison, best: comparison, last: comparison };
    for (let i = 239; i >= 0; i--) {
      service.addChange(storedChange({ name: `thing ${i}`, confirmed: midnight + i * 360_000, comparisons }));
    }
    const { page, errors } = await open({ timezoneId: 'Europe/Berlin' });
    await page.goto(`${service.url}/?day=2026-10-25`);
    const line = page.getByRole('slider', { name: 'Time of the day' });
    const marks = page.locator('.day-line-mark');
    await eventually(async () => expect(await marks.count()).toBeGreaterThanOrEqual(100));
    expect([await marks.count(), await page.locator('.day-line-unread').count()]).toEqual([100, 1]);
    const hours = page.locator('.day-line-hours span');
    expect(await hours.last().evaluate((one) => one.getAttribute('style'))).toContain(`${(100 * 22) / 25}%`);
    await line.press('Home');
    await eventually(async () => expect(await marks.count()).toBe(240));
    expect(await page.locator('.day-line-unread').count()).toBe(0);
    await line.press('End');
    expect(await line.getAttribute('aria-valuetext')).toMatch(/^11:59 PM/);
    expect(errors).toEqual([]);
  });

  it('follows an open visit that began before the latest hundred', async () => {
    const best = { comparison, side: 'after' as const, at: new Date(NOW).toISOString(), box: WHOLE };
    const parked = storedVisit({ name: 'car', begun: NOW - 90_000_000, best, status: 'open', end: null, gone: null });
    const later = Array.from({ length: 100 }, (_, i) => storedVisit({ name: `${i}`, begun: NOW - i * 1000, best }));
    service.visits.kept.push(...later, parked);
    const { page, errors } = await open();
    await page.goto(`${service.url}/review/${parked.id}`);
    await page.getByText(parked.caption).first().waitFor();
    service.visits.kept.splice(-1, 1, { ...parked, caption: 'a white car is still there at the gate' });
    await page.getByText('a white car is still there at the gate').first().waitFor();
    expect(errors).toEqual([]);
  });

  it('finds visits by the words of a search, before the changes', async () => {
    const at = { comparison, side: 'after' as const, at: new Date(NOW).toISOString() };
    const best = { ...at, box: { x: 0.1, y: 0.1, width: 0.1, height: 0.2 } };
    service.visits.kept.push(
      storedVisit({ begun: NOW - 60_000, best }),
      storedVisit({ name: 'car', begun: NOW - 50_000, best, caption: 'a white car came in from the left' }),
    );
    const comparisons = { first: comparison, best: comparison, last: comparison };
    service.addChange(storedChange({ confirmed: NOW, caption: 'a red car has appeared', comparisons }));
    const { page, errors } = await open();
    await page.goto(`${service.url}/review?q=red`);
    await page.getByText('1 visit, and 1 change').waitFor();
    const captions = await rowsOf(page).allInnerTexts();
    expect(captions.map((text) => /a (person|red car)/.exec(text)?.[1])).toEqual(['person', 'red car']);
    await page.getByRole('searchbox', { name: 'Search' }).fill('red car');
    await page.getByText(/^1 change/).waitFor();
    expect(errors).toEqual([]);
  });
});
