/** The page "Wall" in Chromium: chosen cameras with their newest frame and last sentence, live. */
import { streamEvent } from '../../src/schemas/stream-event.js';
import { describeInBrowser, inspect } from '../helpers/browser.js';
import { changeEvent, storedChange } from '../helpers/changes.js';
import { useConsole } from '../helpers/console-service.js';
import { eventually } from '../helpers/eventually.js';
import { storedVisit } from '../helpers/visits.js';

const { open, service } = await useConsole();

const put = (id: string, payload: object) => service.inject({ method: 'PUT', url: `/v1/cameras/${id}`, payload });

/** Adds the latest change of the camera. */
async function change(camera: string, caption: string): Promise<{ changeId: string; comparison: string }> {
  const comparison = await service.addComparison({}, camera);
  const comparisons = { first: comparison, best: comparison, last: comparison };
  const added = { ...storedChange({ name: caption, camera, comparisons, confirmed: Date.now() }), caption };
  service.changes.kept.unshift(added);
  return { changeId: added.id, comparison };
}

describeInBrowser('The page "Wall"', () => {
  it('shows the chosen cameras with their last sentences, and each event at once', async () => {
    await put('gate', { name: 'Gate', labels: ['north'] });
    await put('yard', { labels: ['north'] });
    await put('dock', { labels: ['south'] });
    await change('gate', 'a white van has appeared');
    await service.addComparison({ caption: 'nothing has changed' }, 'dock');
    const { page, errors } = await open();
    await page.goto(service.url);
    await page.getByRole('link', { name: 'Wall' }).click();
    const tiles = page.locator('.wall .camera-card');
    await page.getByText('3 cameras, live').waitFor();
    const gate = tiles.filter({ hasText: 'Gate' });
    await gate.getByText(/^.+: a white van has appeared$/).waitFor();
    await tiles.filter({ hasText: 'dock' }).getByText('nothing has changed').waitFor();
    await tiles.filter({ hasText: 'yard' }).getByText('No frame', { exact: true }).waitFor();
    expect(await inspect(page, 'wall')).toEqual([]);

    const { comparison } = await change('gate', 'a person has left');
    const [opened] = service.changes.kept as [(typeof service.changes.kept)[0]];
    service.events.tell(changeEvent(opened, 'change.opened', opened.confirmed_at));
    await gate.getByText(/^.+: a person has left$/).waitFor();
    await gate.locator(`img[src*="/${comparison}/frames/after"]`).waitFor();

    const visit = storedVisit({ begun: Date.now() - 20_000, camera: 'gate' });
    service.visits.kept.push(visit);
    const { id, last_seen: gone } = visit;
    service.events.tell(streamEvent({ type: 'visit.ended', camera: 'gate', at: gone, subject: { kind: 'visit', id } }));
    await gate.getByText(new RegExp(`^.+: ${visit.caption}$`)).waitFor();
    expect(errors).toEqual([]);
  });

  it('keeps the choice in the address, and is operated by keys alone', async () => {
    for (const id of ['gate', 'yard', 'dock']) await put(id, { labels: [id === 'dock' ? 'south' : 'north'] });
    const { page, errors } = await open();
    await page.goto(`${service.url}/wall`);
    const tiles = page.locator('.wall .camera-card');
    const hrefs = () => tiles.evaluateAll((all) => all.map((one) => one.getAttribute('href')));
    await eventually(async () => expect(await tiles.count()).toBe(3));
    await page.getByRole('combobox', { name: 'Label' }).focus();
    await page.keyboard.type('north');
    await eventually(async () => expect(await hrefs()).toEqual(['/cameras/gate', '/cameras/yard']));
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('group', { name: 'Cameras' }).waitFor();
    expect(await inspect(page, 'wall-choice')).toEqual([]);
    await page.getByRole('checkbox', { name: 'yard' }).focus();
    await page.keyboard.press('Space');
    await eventually(async () => expect(await hrefs()).toEqual(['/cameras/yard']));
    expect(new URL(page.url()).search).toBe('?label=north&camera=yard');
    await page.reload();
    await eventually(async () => expect(await hrefs()).toEqual(['/cameras/yard']));
    await page.getByRole('button', { name: 'Fill the screen' }).press('Enter');
    await eventually(async () => expect(await page.evaluate('document.fullscreenElement?.className')).toBe('wall'));
    expect(errors).toEqual([]);
  });
});
