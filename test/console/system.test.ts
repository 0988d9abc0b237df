/** The page "System" in Chromium, and signing in with a key. */
import { describeInBrowser, inspect } from '../helpers/browser.js';
import { useConsole } from '../helpers/console-service.js';
import { eventually } from '../helpers/eventually.js';
import { MODEL, workerWith } from '../helpers/fake-app.js';

const { open, service } = await useConsole({ auth: 'on' });

const TIMINGS = { queue: 3, fetch: 0, decode: 12, register: 20, encode: 80, caption: 40, heatmap: 2, total: 150 };

describeInBrowser('The page "System"', () => {
  it('asks for a key, and shows workers, models, queues and latency', async () => {
    const { secret } = await service.apiKeys.create({ name: 'desk', scopes: ['compare', 'admin'] });
    service.workers.live = [workerWith(MODEL), workerWith({ ...MODEL, provider: 'cuda:0' })];
    for (const total of [100, 150, 400]) await service.addComparison({ timings_ms: { ...TIMINGS, total } });
    const quiet = { ...TIMINGS, register: 0, encode: 0, caption: 0, heatmap: 0, quiet: 5 };
    for (const total of [150, 150]) await service.addComparison({ timings_ms: { ...quiet, total } });
    const { page, errors } = await open();
    await page.goto(`${service.url}/system`);
    await page.getByLabel('API key').fill('sd_wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The API key is unknown or has been revoked').waitFor();
    expect(await inspect(page, 'sign-in')).toEqual([]);
    await page.getByLabel('API key').fill(secret);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'System' }).waitFor();
    await page.getByText('1 × cpu, 1 × cuda:0').waitFor();
    const row = page.getByRole('row', { name: /^total/ });
    expect(await row.innerText()).toMatch(/total\s+150 ms\s+400 ms/);
    expect(await page.getByRole('row', { name: /^encode/ }).innerText()).toMatch(/80 ms\s+80 ms/);
    expect(await page.getByRole('row', { name: /^quiet/ }).innerText()).toMatch(/5 ms\s+5 ms/);
    expect(await page.getByRole('region', { name: 'Queues' }).innerText()).toContain('archive');
    expect(await inspect(page, 'system')).toEqual([]);
    expect(errors).toEqual([]);
  });

  it('keeps the session over a reload, and not the key', async () => {
    const { secret } = await service.apiKeys.create({ name: 'desk', scopes: ['compare'] });
    const { page } = await open();
    await page.goto(`${service.url}/system`);
    await page.getByLabel('API key').fill(secret);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'System' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'System' }).waitFor();
    const stored = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])';
    expect(await page.evaluate(stored)).toBe('[{},{},""]');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.context().cookies()).toEqual([]);
  });

  it('returns to the sign-in when the key is revoked, and to the same page after it', async () => {
    const { secret, key } = await service.apiKeys.create({ name: 'desk', scopes: ['compare'] });
    const { page } = await open();
    await page.clock.install();
    await page.goto(`${service.url}/system`);
    await page.getByLabel('API key').fill(secret);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'System' }).waitFor();
    await service.apiKeys.revoke(key.id);
    await page.clock.fastForward(6_000);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    const other = await service.apiKeys.create({ name: 'other', scopes: ['compare'] });
    await page.getByLabel('API key').fill(other.secret);
    await page.keyboard.press('Enter');
    await eventually(async () => expect(await page.getByRole('heading', { name: 'System' }).count()).toBe(1));
  });
});
