/** Settings of a camera that are left before they are saved, in Chromium. */
import { describeInBrowser } from '../helpers/browser.js';
import { useConsole } from '../helpers/console-service.js';

const { open, service } = await useConsole();
beforeEach(async () => {
  await service.inject({ method: 'PUT', url: '/v1/cameras/gate', payload: {} });
});

describeInBrowser('Edits of a camera', () => {
  it('stay while other pages are shown, and go if asked', async () => {
    const { page } = await open();
    await page.goto(`${service.url}/cameras/gate`);
    const name = page.getByLabel('Name of the camera');
    await name.fill('Dock');
    await page.getByRole('button', { name: 'Add: ignore' }).click();
    await page.getByRole('link', { name: 'Review' }).click();
    await page.getByRole('heading', { name: 'Changes' }).waitFor();
    await page.goBack();
    expect(await name.inputValue()).toBe('Dock');
    expect(await page.getByRole('group', { name: 'Zones on the frame' }).getByRole('button').count()).toBeGreaterThan(
      0,
    );
    await page.getByText('Not saved yet.').waitFor();
    await page.getByRole('button', { name: 'Discard' }).click();
    expect(await name.inputValue()).toBe('');
  });
});
