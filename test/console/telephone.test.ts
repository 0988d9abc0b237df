/** The page on a telephone: the bar, the link of an alert, and an installed page without its service. */
import { describeInBrowser, inspect } from '../helpers/browser.js';
import { storedChange } from '../helpers/changes.js';
import { useConsole } from '../helpers/console-service.js';
import { eventually } from '../helpers/eventually.js';

const { open, service } = await useConsole();
const TELEPHONE = { viewport: { width: 390, height: 844 }, hasTouch: true };

describeInBrowser('On a telephone', () => {
  it('four buttons lead to all pages, and the link of an alert shows its picture', async () => {
    const comparison = await service.addComparison({}, 'gate');
    const comparisons = { first: comparison, best: comparison, last: comparison };
    const change = storedChange({ comparisons, confirmed: Date.now() });
    service.addChange(change);
    const { page, errors } = await open(TELEPHONE);
    await page.goto(`${service.url}/review/${change.id}`);
    const frame = page.getByAltText('Frame before');
    await frame.waitFor();
    expect((await frame.boundingBox())?.y).toBeLessThan(844);
    expect(await page.getByRole('listbox').isVisible()).toBe(false);
    expect(await inspect(page, 'telephone-change')).toEqual([]);
    await page.setViewportSize(TELEPHONE.viewport);
    await page.getByRole('link', { name: 'List' }).click();
    const row = page.getByRole('listbox').getByRole('option');
    await row.waitFor();
    // A crop of the thing, as wide as the screen.
    expect((await row.locator('img').boundingBox())?.width).toBeGreaterThan(300);
    const bar = page.getByRole('navigation', { name: 'Pages' });
    expect(await bar.locator('.bar-item').allInnerTexts()).toEqual(['Review', 'Wall', 'Cameras', 'More']);
    await bar.getByRole('button', { name: 'More' }).click();
    expect(await inspect(page, 'telephone-more')).toEqual([]);
    await page.setViewportSize(TELEPHONE.viewport);
    await bar.getByRole('button', { name: 'More' }).click();
    await bar.getByRole('link', { name: 'Endpoints' }).click();
    await page.getByRole('heading', { name: 'Endpoints' }).waitFor();
    expect(await bar.getByRole('link', { name: 'Endpoints' }).count()).toBe(0);
    expect(errors).toEqual([]);
  });

  it('the page is installed with its icons, and opens without the service at each view, with its language', async () => {
    const { page } = await open({ ...TELEPHONE, serviceWorkers: 'allow', locale: 'de' });
    await page.goto(service.url);
    const link = await page.locator('link[rel=manifest]').getAttribute('href');
    const address = new URL(link ?? '', service.url);
    const manifest = (await (await fetch(address)).json()) as { icons: { src: string; type: string }[] };
    for (const { src, type } of manifest.icons) {
      const icon = await fetch(new URL(src, address));
      expect([src, icon.status, icon.headers.get('content-type')]).toEqual([src, 200, type]);
    }
    await page.evaluate('navigator.serviceWorker.ready.then(() => true)');
    // The worker keeps the assets of the pages that it serves.
    await page.reload();
    await page.getByRole('heading', { name: 'Änderungen' }).waitFor();
    const kept = async () =>
      (await page.evaluate(`caches.open('shell').then((shell) => shell.keys())
        .then((keys) => keys.map(({ url }) => new URL(url).pathname))`)) as string[];
    await eventually(async () => expect((await kept()).some((path) => path.startsWith('/assets/de-'))).toBe(true));
    expect((await kept()).filter((path) => path !== '/' && !path.startsWith('/assets/'))).toEqual([]);
    await service.goAway();
    for (const path of ['/', '/review/chg_00000000000000000000000000']) {
      await page.goto(service.url + path);
      await page.getByText('Der Dienst ist nicht erreichbar.', { exact: false }).first().waitFor();
    }
    await service.comeBack();
    await page.getByRole('heading', { name: 'Änderungen' }).waitFor();
  });

  it('a notification shows a crop, acknowledges by its button, and opens its change', async () => {
    const comparison = await service.addComparison({}, 'gate');
    const comparisons = { first: comparison, best: comparison, last: comparison };
    const change = storedChange({ comparisons, confirmed: Date.now() });
    service.addChange(change);
    const { page } = await open({ ...TELEPHONE, serviceWorkers: 'allow', permissions: ['notifications'] });
    const context = page.context();
    const worker = context.waitForEvent('serviceworker');
    await page.goto(service.url);
    await page.evaluate('navigator.serviceWorker.ready.then(() => true)');
    const devtools = await context.newCDPSession(page);
    const registered = new Promise<string>((done) => {
      devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations: [first] }) => {
        if (first !== undefined) done(first.registrationId);
      });
    });
    await devtools.send('ServiceWorker.enable');
    const push = { origin: service.url, registrationId: await registered };
    const image = `/v1/comparisons/${comparison}/frames/after?around=0.1,0.2,0.3,0.4`;
    const sent = { title: 'Gate: Change', body: change.caption, path: `/review/${change.id}`, tag: change.id, image };
    const data = JSON.stringify({ ...sent, judged: `changes/${change.id}`, acknowledge: 'Acknowledge' });
    await devtools.send('ServiceWorker.deliverPushMessage', { ...push, data });
    const shown = () =>
      page.evaluate(`navigator.serviceWorker.ready.then((one) => one.getNotifications()).then((all) =>
        all.map(({ title, body, tag, actions }) => [title, body, tag, actions.map((one) => one.title)]))`);
    const expected = [['Gate: Change', change.caption, change.id, ['Acknowledge']]];
    await eventually(async () => expect(await shown()).toEqual(expected));
    await (await worker).evaluate(`self.registration.getNotifications().then(([notification]) =>
      self.dispatchEvent(new NotificationEvent('notificationclick', { notification, action: 'acknowledge' })))`);
    await eventually(() => expect(service.changes.kept[0]?.acknowledged_at).not.toBeNull());
    await eventually(async () => expect(await shown()).toEqual([]));
  });
});
