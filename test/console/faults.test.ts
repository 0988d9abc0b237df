/** Faults that the console must survive: hostile texts, large files, frames that are gone, an API that is away. */
import { describeInBrowser, useBrowser } from '../helpers/browser.js';
import { type ConsoleService, startConsole } from '../helpers/console-service.js';
import { eventually } from '../helpers/eventually.js';

const open = useBrowser();
let service: ConsoleService;
beforeAll(async () => {
  service = await startConsole();
});
afterAll(() => service.stop());

const HOSTILE = `"><img src=x onerror="document.title='hit'"><script>document.title='hit'</script>`;
const MB = 1024 * 1024;

describeInBrowser('The console', () => {
  it('shows markup in captions, words and metadata as text', async () => {
    const words = [{ text: HOSTILE, score: 0.9 }];
    const id = await service.addComparison({ caption: HOSTILE, words, metadata: { note: HOSTILE } });
    const { page, errors } = await open();
    await page.goto(`${service.url}/?comparison=${id}`);
    expect(await page.locator('.word').innerText()).toBe(HOSTILE);
    await page.getByText('Metadata').click();
    expect(await page.locator('pre').innerText()).toContain('onerror');
    expect(await page.locator('main img[src=x], main script').count()).toBe(0);
    expect(await page.title()).toBe('scenedelta');
    expect(errors).toEqual([]);
  });

  it('refuses a dropped file of 50 MB before it is sent, and says the limit', async () => {
    const { page } = await open();
    let sent = 0;
    page.on('request', (request) => (sent += Number(request.method() === 'POST')));
    await page.goto(service.url);
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
    await page.goto(`${service.url}/?comparison=${id}`);
    await page.getByText('The frame "before" is not available any more.').waitFor();
    expect(await page.locator('.sentence').innerText()).toContain('parcel');
    for (const [key, bytes] of frames) service.blobs.kept.set(key, bytes);
  });

  it('says that the service is away while the page is open, and works again when it is back', async () => {
    const { page } = await open();
    await page.goto(service.url);
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
});
