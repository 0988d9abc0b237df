/**
 * Faults that the console must survive: hostile texts, large files, frames that are gone, an API or a store that is
 * away.
 */
import { ScenedeltaError } from '../../src/base/errors.js';
import { describeInBrowser } from '../helpers/browser.js';
import { storedChange } from '../helpers/changes.js';
import { useConsole } from '../helpers/console-service.js';
import { eventually } from '../helpers/eventually.js';

const { open, service } = await useConsole();

const HOSTILE = `"><img src=x onerror="document.title='hit'"><script>document.title='hit'</script>`;
const MB = 1024 * 1024;

describeInBrowser('The console', () => {
  it('shows markup in captions, words and metadata as text', async () => {
    const words = [{ text: HOSTILE, score: 0.9 }];
    const id = await service.addComparison({ caption: HOSTILE, words, metadata: { note: HOSTILE } });
    const { page, errors } = await open();
    await page.goto(`${service.url}/try?comparison=${id}`);
    expect(await page.locator('.word').innerText()).toBe(HOSTILE);
    await page.getByText('Metadata').click();
    expect(await page.locator('pre').innerText()).toContain('onerror');
    expect(await page.locator('main img[src=x], main script').count()).toBe(0);
    expect(await page.title()).toBe('Try · scenedelta');
    expect(errors).toEqual([]);
  });

  it('refuses a dropped file of 50 MB before it is sent, and says the limit', async () => {
    const { page } = await open();
    let sent = 0;
    page.on('request', (request) => (sent += Number(request.method() === 'POST')));
    await page.goto(`${service.url}/try`);
    const slot = page.getByRole('group', { name: 'before' });
    const dataTransfer = await page.evaluateHandle(
      `(() => { const dropped = new DataTransfer();
        dropped.items.add(new File([new Uint8Array(${50 * MB})], 'large.jpg')); return dropped; })()`,
    );
    await slot.dispatchEvent('drop', { dataTransfer });
    expect(await page.getByRole('alert').first().innerText()).toMatch(/has 50 MB; a frame may have at most 20 MB/);
    expect(await page.getByRole('button', { name: 'Compare', exact: true }).isDisabled()).toBe(true);
    expect(sent).toBe(0);
  });

  it('says that a frame is gone, and still shows the sentence', async () => {
    const id = await service.addComparison();
    const frames = [...service.blobs.kept].filter(([key]) => key.startsWith('frames/'));
    for (const [key] of frames) service.blobs.kept.delete(key);
    const { page } = await open();
    await page.goto(`${service.url}/try?comparison=${id}`);
    await page.getByText('The frame "before" is not available any more.').waitFor();
    expect(await page.locator('.sentence').innerText()).toContain('parcel');
    for (const [key, bytes] of frames) service.blobs.kept.set(key, bytes);
  });

  it('says that the service is away while the page is open, and works again when it is back', async () => {
    const { page } = await open();
    await page.goto(`${service.url}/try`);
    const compare = page.getByRole('button', { name: 'Compare the example pair' });
    await compare.waitFor();
    await service.goAway();
    await compare.click();
    await page.getByText('The service cannot be reached. Trying again').waitFor();
    await service.comeBack();
    const banner = page.getByText('The service cannot be reached. Trying again');
    await banner.waitFor({ state: 'detached' });
    await compare.click();
    await eventually(() => expect(service.queue.jobs).toHaveLength(1));
  });

  it('shows a judgement as made when it is saved, and sends a refused one again after a reload', async () => {
    const comparison = await service.addComparison();
    service.addChange(storedChange({ comparisons: { first: comparison, best: comparison, last: comparison } }));
    const { page } = await open();
    await page.goto(`${service.url}/review`);
    const row = page.getByRole('listbox', { name: 'Changes' }).getByRole('option');
    await row.click();
    await page.getByText(', live').waitFor();
    const refuse = () => Promise.reject(new ScenedeltaError('queue-unavailable', 'Redis does not answer'));
    const { giveFeedback } = service.changes;
    const { ping } = service.queue;
    service.changes.giveFeedback = refuse as never;
    service.queue.ping = async () => false;
    await page.getByRole('button', { name: 'Right', exact: false }).first().click();
    await row.getByText('not saved yet').waitFor();
    await page.getByText('its store (Redis) does not answer').waitFor();
    await page.reload();
    service.changes.giveFeedback = giveFeedback;
    service.queue.ping = ping;
    await eventually(() => expect(service.changes.kept[0]?.feedback?.judgement).toBe('correct'));
    await row.getByText('not saved yet').waitFor({ state: 'detached' });
    expect(await row.innerText()).toContain('right');
  });

  it('waits for the store after a reload, and asks for no key meanwhile', async () => {
    const { page } = await open();
    const problem = new ScenedeltaError('queue-unavailable', 'Redis does not answer').toProblem();
    let refused = true;
    await page.route('**/v1/session', (route) =>
      refused
        ? route.fulfill({ status: 503, contentType: 'application/problem+json', body: JSON.stringify(problem) })
        : route.continue(),
    );
    await page.goto(`${service.url}/try`);
    await page.getByText('its store (Redis) does not answer').waitFor();
    expect(await page.getByRole('heading', { name: 'Sign in' }).count()).toBe(0);
    refused = false;
    await page.getByRole('button', { name: 'Compare the example pair' }).waitFor();
  });

  it('keeps a sign-in link while the store is away, and signs in by it afterwards', async () => {
    const { page } = await open();
    const problem = new ScenedeltaError('queue-unavailable', 'Redis does not answer').toProblem();
    const session = { key: { name: 'link', scopes: ['admin'] }, scopes: ['read', 'admin'], admin: true, limits: {} };
    let refused = true;
    const tokens: (string | undefined)[] = [];
    await page.route('**/v1/session', (route) => {
      if (route.request().method() === 'GET') return route.fulfill({ status: 401, json: {} });
      tokens.push(route.request().headers().authorization);
      return refused
        ? route.fulfill({ status: 503, contentType: 'application/problem+json', body: JSON.stringify(problem) })
        : route.fulfill({ json: session });
    });
    await page.goto(`${service.url}/#sign-in=abc.def`);
    await page.getByText('its store (Redis) does not answer').waitFor();
    expect(await page.getByText('This link has expired').count()).toBe(0);
    refused = false;
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(new Set(tokens)).toEqual(new Set(['Bearer abc.def']));
  });

  it('answers a browser at an unknown address with the page, and other clients with a problem', async () => {
    const { page } = await open();
    const response = await page.goto(`${service.url}/camera/gate`);
    expect(response?.status()).toBe(404);
    await page.getByText('There is no such page.').waitFor();
    const answer = await fetch(`${service.url}/camera/gate`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      404,
      expect.stringContaining('application/problem+json'),
    ]);
  });

  it.each([1280, 390])('keeps the form of a new batch within its column at %d px', async (width) => {
    const { page } = await open({ viewport: { width, height: 900 } });
    await page.goto(`${service.url}/footage`);
    const form = page.getByRole('form', { name: 'New batch' });
    await form.waitFor();
    const overflow =
      'document.querySelector(".create-batch").scrollWidth - document.querySelector(".create-batch").clientWidth';
    expect(await page.evaluate(overflow)).toBeLessThanOrEqual(0);
  });
});
