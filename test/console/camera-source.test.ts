/** The source of a camera's pictures in Chromium: a new camera, the test of its address, changes, and deletion. */
import { readFileSync } from 'node:fs';
import { ScenedeltaError } from '../../src/base/errors.js';
import { loginContext, openLogin } from '../../src/secrets/login.js';
import { describeInBrowser, inspect } from '../helpers/browser.js';
import { useConsole } from '../helpers/console-service.js';
import { eventually } from '../helpers/eventually.js';
import { tabTo, unreachableByTab } from '../helpers/gestures.js';

const { open, service } = await useConsole({ outboundAllow: ['192.168.7.0/24'] });

const ADDRESS = 'http://192.168.7.3/snap.jpg';
const picture = readFileSync('examples/before.jpg').toString('base64');
const FOUND = { at: '2026-06-01T12:00:00.000Z', bytes: 214_000, width: 1600, height: 900, picture };
const stored = (id = 'gate') => service.cameras.kept.get(id);
const loginOf = () =>
  openLogin(stored()?.login ?? '', Buffer.alloc(32, 1), loginContext('gate', stored()?.settings.snapshot?.url ?? ''));

describeInBrowser('The source of a camera', () => {
  it('of a new one is tried and set by keyboard alone; each fault says what is wrong', async () => {
    const { page, errors } = await open();
    await page.goto(`${service.url}/cameras`);
    await tabTo(page, /^New camera/);
    await page.keyboard.press('Enter');
    const enter = async (name: RegExp, text: string) => {
      await tabTo(page, name);
      await page.keyboard.press('Control+a');
      await page.keyboard.type(text);
    };
    const test = async () => {
      await tabTo(page, /^Test$/);
      await page.keyboard.press('Enter');
    };
    await enter(/^Id of the camera/, 'gate');
    await tabTo(page, /^Come from/);
    await page.keyboard.type('HTTP');
    await enter(/^Address/, 'http://10.1.2.3/snap.jpg');
    await test();
    await page.getByText('10.1.2.3 is a private address, expected a public address or one in OUTBOUND_ALLOW').waitFor();
    await page.getByText('OUTBOUND_ALLOW=10.1.2.0/24 npm run up').waitFor();
    await page.getByLabel('Address').fill(ADDRESS);
    await enter(/^User name/, 'viewer');
    await enter(/^Password/, 'wrong');
    service.questions.answer = new ScenedeltaError('url-failed', `${ADDRESS} answered 401: it refused the user name`);
    await test();
    await page.getByText('answered 401').waitFor();
    expect(await inspect(page, 'camera-source-fault')).toEqual([]);
    await page.getByLabel(/^Password/).fill('geheim');
    service.questions.answer = FOUND;
    await test();
    await page.getByText(/^1600 × 900 px, 209 kB, /).waitFor();
    await page.getByAltText('As the camera sees it now').waitFor();
    expect(await page.getByText('answered 401').count()).toBe(0);
    expect(await unreachableByTab(page)).toEqual([]);
    expect(await inspect(page, 'camera-source')).toEqual([]);
    await tabTo(page, /^Set up/);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Pictures' }).waitFor();
    await eventually(() => expect(page.url()).toBe(`${service.url}/cameras/gate`));
    expect(stored()?.settings.snapshot).toEqual({ url: ADDRESS, interval_s: 10, certificate: null });
    expect(loginOf()).toEqual({ username: 'viewer', password: 'geheim' });
    expect(errors).toEqual([]);
  });

  it('is changed alone, the login stays; then the camera is deleted, and a second one of its name refused', async () => {
    const payload = { gap_s: 77, snapshot: { url: ADDRESS, interval_s: 5, username: 'viewer', password: 'geheim' } };
    await service.inject({ method: 'PUT', url: '/v1/cameras/gate', payload });
    const { page, errors } = await open();
    await page.goto(`${service.url}/cameras/gate`);
    await page.getByLabel('Seconds between two pictures').fill('60');
    // Another client changes another setting meanwhile.
    await service.inject({ method: 'PATCH', url: '/v1/cameras/gate', payload: { name: 'North' } });
    await page.getByRole('button', { name: 'Save' }).click();
    await eventually(() => expect(stored()?.settings.snapshot).toEqual({ url: ADDRESS, interval_s: 60 }));
    expect(stored()?.settings).toMatchObject({ name: 'North', gap_s: 77 });
    expect(loginOf()).toEqual({ username: 'viewer', password: 'geheim' });
    await page.getByLabel('Send no login any more').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await eventually(() => expect(stored()?.login).toBeUndefined());
    await page.getByLabel('Come from').selectOption('posted');
    await page.getByRole('button', { name: 'Save' }).click();
    await eventually(() => expect(stored()?.settings.snapshot).toBeNull());

    await page.goto(`${service.url}/cameras`);
    await page.getByRole('button', { name: 'New camera' }).click();
    await page.getByLabel('Id of the camera').fill('gate');
    await page.getByRole('button', { name: 'Set up' }).click();
    await page.getByText('There is a camera gate already.').waitFor();
    expect(stored()?.settings.name).toBe('North');

    await page.goto(`${service.url}/cameras/gate`);
    await page.getByRole('button', { name: 'Delete' }).click();
    expect(stored()).toBeDefined();
    await page.getByRole('button', { name: 'Delete the camera and all its changes' }).click();
    await page.getByText('There is no camera yet.').waitFor();
    expect(stored()).toBeUndefined();
    expect(errors).toEqual([]);
  });
});
