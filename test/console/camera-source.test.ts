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
    expect(stored()?.settings.snapshot).toEqual({ url: ADDRESS, interval_s: 10 });
    expect(loginOf()).toEqual({ username: 'viewer', password: 'geheim' });
    expect(errors).toEqual([]);
  });

  it('is found in the network by keyboard alone: the camera fills in the address, and each fault says what to do', async () => {
    const { page, errors } = await open();
    await page.goto(`${service.url}/cameras`);
    await page.getByRole('button', { name: /^New camera/ }).click();
    const press = async (name: RegExp) => {
      await tabTo(page, name);
      await page.keyboard.press('Enter');
    };
    const off = 'this service does not search for cameras, expected ONVIF_DISCOVERY=on';
    service.questions.answer = new ScenedeltaError('url-refused', off);
    await press(/^Find cameras in the network/);
    await page.getByText(off).waitFor();
    await page.getByText('ONVIF_DISCOVERY=on OUTBOUND_ALLOW=192.168.1.0/24 npm run up').waitFor();
    const xaddr = 'http://192.168.7.3/onvif/device_service';
    service.questions.answer = {
      items: [
        { name: 'Gate <b>', hardware: 'IPC-42', location: '', addresses: [xaddr], refused: [] },
        { name: '', hardware: '', location: 'yard', addresses: [], refused: ['192.168.9.4'] },
      ],
    };
    await press(/^Find cameras in the network/);
    await page.getByText('2 cameras found').waitFor();
    await page.getByText('IPC-42, 192.168.7.3').waitFor();
    await page.getByText('yard, 192.168.9.4: not in OUTBOUND_ALLOW').waitFor();
    await page.getByText('OUTBOUND_ALLOW=192.168.9.0/24 npm run up').waitFor();
    expect(await page.getByRole('button', { name: '192.168.9.4' }).isDisabled()).toBe(true);
    expect(await inspect(page, 'camera-discovery')).toEqual([]);
    service.questions.answer = new ScenedeltaError('url-failed', `${xaddr} answered 400: Sender not Authorized`);
    await press(/^Gate/);
    await page.getByText('answered 400: Sender not Authorized').waitFor();
    await page.getByText('Enter the user name and the password of the camera below').waitFor();
    expect(await page.getByLabel('Address').inputValue()).toBe('http://192.168.7.3/');
    await page.getByLabel(/^User name/).fill('viewer');
    await page.getByLabel(/^Password/).fill('geheim');
    service.questions.answer = { picture: ADDRESS, stream: 'rtsp://192.168.7.3:554/live' };
    await press(/^Gate/);
    await page.getByText('The address is filled in. Try it with Test.').waitFor();
    expect(await page.getByLabel('Address').inputValue()).toBe(ADDRESS);
    const { login = '', ...asked } = service.questions.asked.at(-1) as { login?: string };
    expect(asked).toEqual({ kind: 'addresses', url: xaddr });
    expect(openLogin(login, Buffer.alloc(32, 1), loginContext('', xaddr))).toEqual({
      username: 'viewer',
      password: 'geheim',
    });
    await page.getByLabel('Come from').selectOption('rtsp');
    await press(/^Gate/);
    await eventually(async () =>
      expect(await page.getByLabel('Address').inputValue()).toBe('rtsp://192.168.7.3:554/live'),
    );
    expect(await unreachableByTab(page)).toEqual([]);
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
