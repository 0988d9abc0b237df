/** The page "Review" in Chromium. */
import type { Page } from 'playwright-core';
import { describeInBrowser, inspect } from '../helpers/browser.js';
import { changeEvent, storedChange } from '../helpers/changes.js';
import { useConsole } from '../helpers/console-service.js';
import { eventually } from '../helpers/eventually.js';

const { open, service } = await useConsole();
let comparison: string;
beforeEach(async () => {
  comparison = await service.addComparison();
});

const MINUTE_MS = 60_000;
/** Somewhat longer than a judgement can be undone. */
const UNDO_MS = 6_000;
const NOW = Date.now();
/** The latest first, a minute between two. */
function addChanges(count: number, given: (i: number) => Partial<Parameters<typeof storedChange>[0]> = () => ({})) {
  for (let i = 0; i < count; i++) {
    service.addChange(
      storedChange({
        name: `thing ${i}`,
        confirmed: NOW - i * MINUTE_MS,
        camera: i % 2 === 0 ? 'gate' : 'yard',
        caption: `thing ${i} has appeared`,
        comparisons: { first: comparison, best: comparison, last: comparison },
        ...given(i),
      }),
    );
  }
}
const idOf = (i: number) => service.changes.kept[i]?.id ?? '';
const changeOf = (i: number) => service.changes.kept[i];
const rowsOf = (page: Page) => page.getByRole('listbox', { name: 'Changes' }).getByRole('option');

describeInBrowser('The page "Review"', () => {
  it('judges changes with one key each, undoes the last one, and saves the others', async () => {
    addChanges(12);
    const { page, errors } = await open();
    await page.clock.install();
    await page.goto(`${service.url}/review`);
    await rowsOf(page).first().waitFor();
    const selected = rowsOf(page).and(page.locator('[aria-selected=true]'));
    await page.keyboard.press('j');
    await eventually(async () => expect(await selected.innerText()).toContain('thing 0'));
    // The view of the change listens to its keys some moments after it is shown.
    const sentence = page.getByLabel('The right sentence');
    await eventually(async () => {
      if (!(await sentence.isVisible())) await page.keyboard.press('e');
      expect(await sentence.isVisible()).toBe(true);
    });
    await sentence.press('Escape');
    await sentence.waitFor({ state: 'detached' });
    for (const [i, key] of ['r', 'f', 'a'].entries()) {
      await page.keyboard.press(key);
      await eventually(async () => expect(await selected.innerText()).toContain(`thing ${i + 1}`));
    }
    await page.keyboard.press('f');
    await page.keyboard.press('u');
    await page.keyboard.press('e');
    await sentence.fill('a parcel has appeared');
    await page.keyboard.press('Enter');
    await page.locator('[data-outline=after] .line').first().waitFor();
    expect(await inspect(page, 'review')).toEqual([]);
    await page.clock.fastForward(UNDO_MS);
    await eventually(() => {
      const feedback = [0, 1, 3, 4].map((i) => changeOf(i)?.feedback?.judgement ?? null);
      expect(feedback).toEqual(['correct', 'false_alarm', null, 'correct']);
      expect(changeOf(4)?.feedback?.caption).toBe('a parcel has appeared');
      expect(changeOf(2)?.acknowledged_at).not.toBeNull();
    });
    // Judgements that were sent are withdrawn, the latest first.
    for (let presses = 0; presses < 4; presses++) {
      await page.keyboard.press('u');
      await eventually(async () => expect(await page.getByText(/^Undone: /).count()).toBeGreaterThan(0));
      await page.clock.fastForward(UNDO_MS + 1_000);
    }
    await eventually(() => {
      expect([0, 1, 4].map((i) => changeOf(i)?.feedback)).toEqual([null, null, null]);
      expect(changeOf(2)?.acknowledged_at).toBeNull();
    });
    expect(errors).toEqual([]);
  });

  it('makes a change normal for its camera', async () => {
    await service.inject({ method: 'PUT', url: '/v1/cameras/gate', payload: { before: 'previous' } });
    addChanges(1);
    const { page } = await open();
    await page.clock.install();
    await page.goto(`${service.url}/review/${idOf(0)}`);
    await page.getByRole('button', { name: 'Normal here' }).click();
    await page.clock.fastForward(UNDO_MS);
    await page.getByText('It is normal from the next frame of gate that shows it.').waitFor();
    expect(service.changes.normal).toEqual([idOf(0)]);
  });

  it('shows the same list and change to each person who opens its link', async () => {
    addChanges(20, (i) => ({ zone: i === 4 ? 'dock' : null, severity: i === 4 ? 'high' : 'low' }));
    const { page } = await open();
    await page.goto(`${service.url}/review/${idOf(4)}?camera=gate&severity=high`);
    await eventually(async () => expect(await rowsOf(page).count()).toBe(1));
    expect(await rowsOf(page).and(page.locator('[aria-selected=true]')).innerText()).toContain('dock');
    await page.getByLabel('Severity').selectOption('');
    await eventually(async () => expect(await rowsOf(page).count()).toBe(10));
    await page.keyboard.press('/');
    await page.getByRole('searchbox', { name: 'Search' }).fill('NUMBER14');
    await page.getByText('unknown: number14').waitFor();
    expect(page.url()).toContain('camera=gate&q=NUMBER14');
    await page.goto(`${service.url}/review/chg_00000000000000000000000000`);
    await page.getByText('There is no change chg_00000000000000000000000000').waitFor();
  });

  it('searches while words are typed, and says how it read them and why it found each change', async () => {
    const captions = ['a white truck has appeared', 'a red car has left', 'a red car has appeared on the left'];
    addChanges(3, (i) => ({ caption: captions[i] ?? '', kind: i === 1 ? 'disappear' : 'appear', camera: 'gate' }));
    const { page, errors } = await open();
    await page.goto(`${service.url}/review`);
    await rowsOf(page).nth(2).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('red car left');
    // The answer to the first two words may still be shown.
    await rowsOf(page).first().getByTitle('matched: red, car, left').waitFor();
    expect(await rowsOf(page).count()).toBe(2);
    expect(await rowsOf(page).first().innerText()).toContain('a red car has left');
    const field = page.getByRole('searchbox', { name: 'Search' });
    await field.fill('lorry yesterday');
    await page.getByText('lorry read as truck (synonym)').waitFor();
    await page.getByText('unknown: yesterday').waitFor();
    await eventually(async () => expect(await rowsOf(page).count()).toBe(1));
    expect(await inspect(page, 'review-search')).toEqual([]);
    await rowsOf(page).first().click();
    expect(page.url()).toMatch(/\/review\/chg_\w+\?q=lorry\+yesterday$/);
    await page.reload();
    await eventually(async () => expect(await rowsOf(page).count()).toBe(1));
    expect(await field.inputValue()).toBe('lorry yesterday');
    await field.fill('blorp');
    await page.getByText('No change fits').waitFor();
    await field.fill('');
    await eventually(async () => expect(await rowsOf(page).count()).toBe(3));
    expect(errors).toEqual([]);
  });

  it('lists the changes that are like another one', async () => {
    const captions = ['a red car has appeared', 'a person has appeared', 'a blue car has appeared'];
    addChanges(3, (i) => ({ caption: captions[i] ?? '', camera: 'gate' }));
    const { page } = await open();
    await page.goto(`${service.url}/review/${idOf(0)}`);
    await page.getByRole('link', { name: 'changes like this one' }).click();
    await page.getByText('Changes like “a red car has appeared”').waitFor();
    await eventually(async () => expect(await rowsOf(page).count()).toBe(1));
    expect(await rowsOf(page).innerText()).toContain('a blue car has appeared');
    expect(await inspect(page, 'review-like')).toEqual([]);
    await page.getByRole('button', { name: 'All changes' }).click();
    await eventually(async () => expect(await rowsOf(page).count()).toBe(3));
  });

  it('shows further hits of a search as they are looked at, and the reason of a failed one', async () => {
    addChanges(130, () => ({ camera: 'gate', caption: 'a cat has appeared' }));
    const { page } = await open();
    await page.goto(`${service.url}/review?q=cat`);
    await page.getByText('the first 100 changes').waitFor();
    await page.getByRole('listbox', { name: 'Changes' }).evaluate((list) => list.scrollTo(0, list.scrollHeight));
    await page.getByText('130 changes').waitFor();
    expect(await page.getByText('the first').count()).toBe(0);
    await page.goto(`${service.url}/review?q=${'x'.repeat(600)}`);
    await page.getByText('expected').first().waitFor();
  });

  it('marks days in the calendar and lists the chosen one', async () => {
    addChanges(4, (i) => ({ confirmed: NOW - Math.floor(i / 2) * 24 * 60 * MINUTE_MS }));
    const { page } = await open();
    await page.goto(`${service.url}/review`);
    await page.getByText('4 changes').waitFor();
    await page.getByText('All days').click();
    // Yesterday may be in the month before.
    if ((await page.locator('.day.dotted').count()) === 1) {
      await page.getByRole('button', { name: 'Month before' }).click();
    }
    await page.locator('.day.dotted').first().click();
    await page.getByText('2 changes', { exact: false }).first().waitFor();
    expect(page.url()).toMatch(/day=\d{4}-\d\d-\d\d/);
  });

  it('adds changes while it is open, and marks the ones that end', async () => {
    addChanges(2);
    const { page } = await open();
    await page.goto(`${service.url}/review`);
    await page.getByText(', live').waitFor();
    const change = storedChange({ name: 'new', confirmed: Date.now() + MINUTE_MS, caption: 'a van has appeared' });
    service.changes.kept.unshift(change);
    const tell = (type: 'change.opened' | 'change.reverted', at: string) =>
      service.events.tell(changeEvent(change, type, at));
    tell('change.opened', change.confirmed_at);
    const row = rowsOf(page).first();
    await eventually(async () => expect(await row.innerText()).toContain('a van has appeared'));
    const ended = { status: 'reverted', settled_at: change.confirmed_at, reverted_at: change.last_seen } as const;
    service.changes.kept[0] = { ...change, ...ended };
    tell('change.reverted', change.last_seen);
    await eventually(async () => expect(await row.innerText()).toContain('over'));
    await row.click();
    for (const fact of ['Last seen', 'Settled', 'Gone']) await page.getByText(fact, { exact: true }).waitFor();
  });

  it('shows markup in the names of cameras, zones and captions as text', async () => {
    const hostile = `<img src=x onerror="document.title='hit'">`;
    const zone = {
      id: 'dock',
      name: hostile,
      type: 'include',
      polygon: [
        [0, 0],
        [1, 0],
        [1, 1],
      ],
    };
    const payload = { name: hostile, zones: [zone] };
    expect((await service.inject({ method: 'PUT', url: '/v1/cameras/gate', payload })).statusCode).toBe(201);
    addChanges(1, () => ({ zone: 'dock', caption: hostile }));
    const { page, errors } = await open();
    await page.goto(`${service.url}/review/${idOf(0)}`);
    await eventually(async () => expect((await rowsOf(page).innerText()).split(hostile)).toHaveLength(4));
    expect(await page.locator('main img[src=x]').count()).toBe(0);
    expect([await page.title(), errors]).toEqual([expect.stringMatching(/^chg_\w+ · Review · scenedelta$/), []]);
  });

  it('sends a judgement after the service was away', async () => {
    addChanges(2);
    const { page } = await open();
    await page.clock.install();
    await page.goto(`${service.url}/review/${idOf(0)}`);
    await page.getByRole('button', { name: 'False alarm' }).waitFor();
    await service.goAway();
    await page.getByText('The service cannot be reached. Trying again').waitFor();
    await page.keyboard.press('f');
    await page.clock.fastForward(UNDO_MS);
    await service.comeBack();
    await eventually(() => expect(changeOf(0)?.feedback?.judgement).toBe('false_alarm'));
    await page.getByText(', live').waitFor();
  });
});
