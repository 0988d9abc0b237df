/** The page "Cameras" in Chromium with 202 cameras: order, search, and a service that goes away. */
import { initialCameraState } from '../../src/camera/state/state.js';
import { describeInBrowser, inspect } from '../helpers/browser.js';
import { storedChange } from '../helpers/changes.js';
import { useConsole } from '../helpers/console-service.js';
import { eventually } from '../helpers/eventually.js';

const { open, service } = await useConsole();

const put = (id: string, payload: object) => service.inject({ method: 'PUT', url: `/v1/cameras/${id}`, payload });

describeInBrowser('The page "Cameras" with more cameras than a page of the list', () => {
  it('labels the listed cameras with one request, and lists those of a label', async () => {
    for (const id of ['gate-1', 'gate-2', 'yard-1']) await put(id, id === 'yard-1' ? { labels: ['south'] } : {});
    const { page, errors } = await open();
    const patches: string[] = [];
    page.on('request', (request) => request.method() === 'PATCH' && patches.push(new URL(request.url()).pathname));
    await page.goto(`${service.url}/cameras`);
    const cards = page.locator('.camera-card');
    await page.getByRole('searchbox').fill('gate');
    await eventually(async () => expect(await cards.count()).toBe(2));
    await page.getByText('Labels of the 2 cameras below').click();
    await page.getByLabel('Labels (with commas between them)').fill('north, dock 2');
    expect(await inspect(page, 'cameras-labels')).toEqual([]);
    await page.getByRole('button', { name: 'Set', exact: true }).click();
    await page.getByRole('button', { name: 'Replace the labels of 2 cameras' }).click();
    const labels = () => [...service.cameras.kept.values()].map(({ settings }) => settings.labels);
    await eventually(() => expect(labels()).toEqual([['north', 'dock 2'], ['north', 'dock 2'], ['south']]));
    expect(patches).toEqual(['/v1/cameras']);
    await page.getByRole('searchbox').fill('');
    await eventually(async () => expect(await cards.count()).toBe(3));
    await page.getByRole('combobox', { name: 'Label' }).selectOption('south');
    await eventually(async () => expect(await cards.count()).toBe(1));
    await cards.first().click();
    const field = page.getByLabel('Labels (with commas between them)');
    await field.fill('south, pier');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect(labels()[2]).toEqual(['south', 'pier']);
    expect(errors).toEqual([]);
  });

  it('shows the changes per week when they are opened, and what retention has removed', async () => {
    await put('trend-1', { name: 'Trend 1', labels: ['trend'], retention: { results_hours: 240 } });
    service.changes.kept.push(storedChange({ name: 'trend', camera: 'trend-1', confirmed: Date.now() - 1_000 }));
    const { page, errors } = await open();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.goto(`${service.url}/cameras`);
    await page.getByRole('combobox', { name: 'Label' }).selectOption('trend');
    await eventually(async () => expect(await page.locator('.camera-card').count()).toBe(1));
    expect(asked).not.toContain('/v1/trends');
    await page.getByText('Changes per week').click();
    const row = page.getByRole('row', { name: /Trend 1/ });
    await row.waitFor();
    expect(await row.getByRole('cell').allInnerTexts()).toEqual([
      '–',
      '–',
      '–',
      '–',
      '–',
      ...['', '', ''].map(() => expect.any(String)),
    ]);
    expect(await row.getByRole('cell').last().innerText()).toMatch(/^1\s+0$/);
    await page.getByText(/^Retention has removed what is older than/).waitFor();
    expect(await inspect(page, 'cameras-trends')).toEqual([]);
    expect(errors).toEqual([]);
  });

  it('shows problems first, searches and shows more, and opens the last camera with few requests', async () => {
    const ids = Array.from({ length: 202 }, (_, i) => `yard-${String(i).padStart(3, '0')}`);
    for (const id of ids) await put(id, { name: `Yard ${id.slice(-1)}` });
    await service.addComparison({}, 'yard-201');
    await service.addComparison({}, 'yard-150');
    const late = {
      ...initialCameraState(),
      last: { at: Date.now() - 600_000, sha256: 'a'.repeat(64), comparison: 'c' },
    };
    service.cameras.states.set('yard-150', late);
    const { page, errors } = await open({ viewport: { width: 390, height: 900 } });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const cards = page.locator('.camera-card');
    const hrefs = () => cards.evaluateAll((all) => all.map((one) => one.getAttribute('href')));
    await page.goto(`${service.url}/cameras`);
    await eventually(async () => expect(await cards.count()).toBe(100));
    expect((await hrefs()).slice(0, 2)).toEqual(['/cameras/yard-150', '/cameras/yard-000']);
    for (const count of [200, 202]) {
      await page.getByRole('button', { name: 'Show more' }).click();
      await eventually(async () => expect(await cards.count()).toBe(count));
    }
    expect(new Set(await hrefs()).size).toBe(202);
    expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0);
    expect(await inspect(page, 'cameras-many')).toEqual([]);
    await service.goAway();
    await page.getByText('The service cannot be reached.').first().waitFor();
    await service.comeBack();
    await page.getByRole('searchbox').fill('YARD-201');
    await eventually(async () => expect(await hrefs()).toEqual(['/cameras/yard-201']));
    asked.length = 0;
    await page.goto(`${service.url}/cameras/yard-201`);
    await page.getByAltText('Last frame').waitFor();
    const ofApi = asked.filter((path) => path.startsWith('/v1/'));
    expect(ofApi.length).toBeLessThanOrEqual(6);
    expect(ofApi).not.toContain('/v1/cameras');
    expect(errors).toEqual([]);
  });

  it('says so if there is no such camera', async () => {
    const { page } = await open();
    await page.goto(`${service.url}/cameras/nowhere`);
    await page.getByText('There is no camera nowhere').waitFor();
  });
});
