/** Console and /docs below a path of a host, behind a proxy that removes the path and one that leaves it, and nginx. */
import type { Page } from 'playwright-core';
import { describeInBrowser, useBrowser } from '../helpers/browser.js';
import { storedChange } from '../helpers/changes.js';
import { type ConsoleService, startConsole } from '../helpers/console-service.js';
import { nginx, startNginx, startPathProxy } from '../helpers/path-proxy.js';

const open = useBrowser();
const PROXIES = [
  [
    'the ingress of Home Assistant, which the service does not know',
    '/api/hassio_ingress/s3cr-et_1',
    true,
    startPathProxy,
  ],
  ['a proxy that leaves the path of PUBLIC_URL in requests', '/cams/scenedelta', false, startPathProxy],
  ...(nginx === undefined
    ? []
    : [['nginx, by the location of deploy/README.md', '/cams/scenedelta', false, startNginx] as const]),
] as const;

/** @returns a list that fills with requests that leave the path, and with addresses at which there is nothing */
function watchRequests(page: Page, url: string): string[] {
  const lost: string[] = [];
  page.on('response', (answer) => {
    const { pathname } = new URL(answer.url());
    if (!answer.url().startsWith('data:') && (!answer.url().startsWith(`${url}/`) || answer.status() === 404)) {
      lost.push(`${answer.status()} ${pathname}`);
    }
  });
  return lost;
}

describeInBrowser.each(PROXIES)('Behind %s', (_, path, strips, startProxy) => {
  let proxy: Awaited<ReturnType<typeof startPathProxy>>;
  let service: ConsoleService;
  beforeAll(async () => {
    proxy = await startProxy({ path, strips });
    service = await startConsole({ auth: 'on', publicUrl: strips ? 'https://elsewhere.example/other' : proxy.url });
    await proxy.serve(service.url);
  });
  afterAll(async () => {
    await service.stop();
    await proxy.stop();
  });
  const signedIn = async () => {
    const { secret } = await service.apiKeys.create({ name: 'desk', scopes: ['compare', 'admin'] });
    const tab = await open();
    const lost = watchRequests(tab.page, proxy.url);
    await tab.page.goto(`${proxy.url}/system`);
    await tab.page.getByLabel('API key').fill(secret);
    await tab.page.keyboard.press('Enter');
    await tab.page.getByRole('heading', { name: 'System' }).waitFor();
    return { ...tab, lost };
  };

  it('the console signs in, walks through its pages, and stays below the path', async () => {
    const comparison = await service.addComparison({}, 'gate');
    const change = storedChange({ comparisons: { first: comparison, best: comparison, last: comparison } });
    service.addChange(change);
    const { page, errors, lost } = await signedIn();
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ path: `${path}/v1`, secure: false, httpOnly: true });
    for (const name of ['Cameras', 'Footage', 'Endpoints', 'Review']) {
      await page.getByRole('link', { name, exact: true }).click();
      await page.waitForURL(`${proxy.url}/${name.toLowerCase()}*`);
    }
    await page.goto(`${proxy.url}/review/${change.id}`);
    for (const side of ['before', 'after']) {
      const frame = page.getByAltText(`Frame ${side}`);
      await frame.and(page.locator(`[src^="${path}/v1/"]`)).waitFor();
    }
    await page.getByRole('link', { name: 'Brief of today' }).click();
    await page.getByRole('heading', { name: 'Daily brief' }).waitFor();
    await page.getByRole('link', { name: 'Back to the changes' }).click();
    await page.getByRole('listbox', { name: 'Changes' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.context().cookies()).toEqual([]);
    expect([lost, errors]).toEqual([[], []]);
  });

  it('/docs shows the API and tries it, within its own security policy and without a foreign logo', async () => {
    const { page, errors } = await open();
    const lost = watchRequests(page, proxy.url);
    await page.goto(`${proxy.url}/docs`);
    const operation = page.locator('#operations-operations-livez');
    await operation.locator('.opblock-summary-control').click();
    await operation.getByRole('button', { name: 'Try it out' }).click();
    const answer = page.waitForResponse(`${proxy.url}/livez`);
    await operation.getByRole('button', { name: 'Execute' }).click();
    expect(await (await answer).json()).toEqual({ alive: true });
    expect(await page.locator('.topbar').isVisible()).toBe(false);
    expect([lost, errors]).toEqual([[], []]);
  });

  it('a page of the same host may show the console in a frame', async () => {
    const { page, errors } = await open();
    await page.goto(proxy.host);
    await page.frameLocator('iframe').getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(errors).toEqual([]);
  });
});
