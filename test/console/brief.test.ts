/** The daily brief as a page in Chromium, and the way to it from the page "Review". */
import { describeInBrowser, inspect } from '../helpers/browser.js';
import { storedChange } from '../helpers/changes.js';
import { useConsole } from '../helpers/console-service.js';
import { eventually } from '../helpers/eventually.js';
import { tabTo } from '../helpers/gestures.js';
import { storedVisit } from '../helpers/visits.js';

const { open, service } = await useConsole();
beforeEach(() => {
  service.days.changes.length = 0;
  service.days.asked.length = 0;
});

const DAY = '2026-06-01';
const HOSTILE = `<img src=x onerror="document.title='hit'">`;
const setUp = (id: string, payload: object = {}) =>
  service.inject({ method: 'PUT', url: `/v1/cameras/${id}`, payload });
/** A change of the day, in the list of the page and in the brief. */
function add(name: string, clock: string, caption: string, given: Partial<Parameters<typeof storedChange>[0]> = {}) {
  const first = `${DAY}T${clock}:00.000Z`;
  const change = storedChange({
    name,
    confirmed: Date.parse(first),
    first_seen: first,
    camera: 'gate',
    caption,
    ...given,
  });
  service.addChange(change);
  service.days.changes.push(change);
  return change;
}

describeInBrowser('The daily brief', () => {
  it('is opened for the chosen day and camera by keyboard, and its links lead to the changes', async () => {
    await setUp('gate', { name: HOSTILE });
    await setUp('yard');
    const van = add('van', '08:00', 'a white van has appeared in loading bay 2');
    add('bin', '09:30', `the ${HOSTILE} is gone`, { kind: 'disappear' });
    add('other', '10:00', 'a person has appeared', { camera: 'yard' });
    const comparison = await service.addComparison({}, 'gate');
    const begun = Date.parse(`${DAY}T11:00:00Z`);
    const box = { x: 0.4, y: 0.4, width: 0.1, height: 0.2 };
    const best = { comparison, side: 'after' as const, at: new Date(begun).toISOString(), box };
    service.visits.kept.push(storedVisit({ begun, best, camera: 'yard' }));
    const { page, errors } = await open({ timezoneId: 'Europe/Berlin' });
    await page.goto(`${service.url}/review?camera=gate&day=${DAY}`);
    await page.getByText('2 changes', { exact: false }).first().waitFor();
    await tabTo(page, /^Brief of this day/);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Daily brief' }).waitFor();
    expect(service.days.asked.map(({ camera, from }) => [camera, new Date(from).toISOString()])).toEqual([
      ['gate', '2026-05-31T22:00:00.000Z'],
    ]);
    await page.getByText('a white van has appeared in loading bay 2').first().waitFor();
    await page.getByText(/^A quiet day\. A white van has appeared in loading bay 2 \(/).waitFor();
    expect(await page.locator('img[src=x]').count()).toBe(0);
    expect(await inspect(page, 'brief')).toEqual([]);
    const links = page.getByRole('listitem').getByRole('link');
    expect(new URL((await links.first().getAttribute('href')) ?? '').pathname).toBe(`/review/${van.id}`);
    await page.goBack();
    await page.getByLabel('Camera').selectOption('');
    await page.getByRole('link', { name: 'Brief of this day' }).click();
    await page.getByText('a person has appeared').first().waitFor();
    const crop = page.getByRole('link', { name: /^A person in red \(yard, 13:00/ }).locator('img');
    expect(await crop.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth)).toBeGreaterThan(
      200,
    );
    expect([await page.title(), errors]).toEqual(['Daily brief', []]);
    // Each choice of a filter is a step back.
    for (const camera of ['', 'gate']) {
      await page.goBack();
      await eventually(async () => expect(await page.getByLabel('Camera').inputValue()).toBe(camera));
    }
    await page.goForward();
    await page.getByRole('link', { name: 'Brief of this day' }).click();
    await page.getByRole('link', { name: 'Back to the changes' }).click();
    await page.getByRole('heading', { name: 'Changes' }).waitFor();
  });

  it('is that of today without a chosen day, and has a page without any camera', async () => {
    const { page } = await open();
    await page.goto(`${service.url}/review?day=nonsense`);
    await page.getByRole('link', { name: 'Brief of today' }).click();
    await page.getByText('There is no camera.').waitFor();
    expect(new URL(page.url()).searchParams.get('day')).toBe('today');
    expect(await inspect(page, 'brief-empty')).toEqual([]);
  });
});
