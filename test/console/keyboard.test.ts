/** The pages by keyboard alone: every control is reached by Tab, and their main jobs are done without a pointer. */
import type { Page } from 'playwright-core';
import type { EndpointRecord } from '../../src/stores/delivery/endpoints.js';
import { describeInBrowser } from '../helpers/browser.js';
import { storedChange } from '../helpers/changes.js';
import { useConsole } from '../helpers/console-service.js';
import { storedEndpoint } from '../helpers/endpoints.js';
import { eventually } from '../helpers/eventually.js';
import { MODEL, workerWith } from '../helpers/fake-app.js';
import { tabTo, unreachableByTab } from '../helpers/gestures.js';

const { open, service } = await useConsole();
let comparison: string;
beforeEach(async () => {
  const polygon = [
    [0.2, 0.2],
    [0.5, 0.2],
    [0.5, 0.6],
  ];
  const zones = [{ id: 'dock', name: 'loading dock', type: 'include', polygon }];
  const windows = [{ days: ['mon'], from: '19:30', to: '06:00' }];
  const alerts = { severity_rules: [{ min_area: 0.05, severity: 'high' }] };
  const payload = { zones, alerts, schedule: { timezone: 'UTC', windows } };
  await service.inject({ method: 'PUT', url: '/v1/cameras/gate', payload });
  comparison = await service.addComparison({}, 'gate');
  service.workers.live = [workerWith(MODEL)];
});

const settings = () => service.cameras.kept.get('gate')?.settings;
const press = async (page: Page, name: RegExp, key = 'Enter') => {
  await tabTo(page, name);
  await page.keyboard.press(key);
};
/** Replaces the text of a field. */
const enter = async (page: Page, name: RegExp, text: string) => {
  await tabTo(page, name);
  await page.keyboard.press('Control+a');
  await page.keyboard.type(text);
};
const addEndpoint = async () => {
  const endpoint = storedEndpoint('https://r.example/in', { description: 'Desk' });
  await service.endpoints.create(endpoint);
  const attempt = { at: new Date().toISOString(), duration_ms: 12, attempt: 1, status: 500, error: 'answered 500' };
  const delivery = {
    id: `dlv_${'1'.repeat(26)}`,
    endpoint: endpoint.id,
    event: 'change.opened',
    url: 'https://r.example/',
  };
  service.deliveries.kept.push({ ...delivery, state: 'failed', next_attempt_at: null, attempts: [attempt] } as never);
  return endpoint;
};

describeInBrowser('By keyboard alone', () => {
  it('every control of each page is reached', async () => {
    const comparisons = { first: comparison, best: comparison, last: comparison };
    const change = storedChange({ name: 'van', camera: 'gate', comparisons });
    service.addChange(change);
    const { id: endpoint } = await addEndpoint();
    const { page } = await open();
    for (const [path, shown] of [
      [`/try?comparison=${comparison}`, 'Outlines'],
      [`/review/${change.id}`, 'False alarm'],
      ['/cameras', 'New camera'],
      ['/cameras/gate', 'Remove rule 1'],
      ['/wall', 'Fill the screen'],
      ['/footage', 'Find the changes'],
      [`/endpoints/${endpoint}`, 'Send a test event'],
      ['/system', 'System'],
    ] as const) {
      await page.goto(service.url + path);
      await page
        .getByRole(shown === 'System' ? 'heading' : 'button', { name: shown })
        .first()
        .waitFor();
      expect([path, await unreachableByTab(page)]).toEqual([path, []]);
    }
  }, 120_000);

  it('the page "System" is opened by the navigation, after the link that skips it', async () => {
    const { page } = await open();
    await page.goto(service.url);
    await page.getByRole('link', { name: 'System' }).waitFor();
    await page.keyboard.press('Tab');
    await press(page, /^Skip to the content/);
    await eventually(async () => expect(await page.evaluate('document.activeElement?.id')).toBe('content'));
    await page.reload();
    await page.getByRole('link', { name: 'System' }).waitFor();
    await press(page, /^System$/);
    await page.getByText('1 × cpu').waitFor();
  });

  it('rules of a camera are set, tried on the last day and saved', async () => {
    const { page } = await open();
    await page.goto(`${service.url}/cameras/gate`);
    await page.getByRole('button', { name: 'Remove rule 1' }).waitFor();
    await enter(page, /^Frames in a row/, '3');
    await enter(page, /^Accepted false alarms per day/, '2');
    await press(page, /^Add a rule/);
    await press(page, /^Zone of rule 2/, 'l');
    await enter(page, /^Least area of rule 2/, '7');
    await press(page, /^Try these settings on the last day/);
    await page.getByText(/^Would have sent/).waitFor();
    expect(settings()?.alerts.confirm_frames).toBe(2);
    await press(page, /^Save$/);
    await page.getByText('Saved.').waitFor();
    expect(settings()).toMatchObject({
      false_alarms_per_day: 2,
      alerts: { confirm_frames: 3, severity_rules: [{ min_area: 0.05 }, { zone: 'dock', min_area: 0.07 }] },
    });
  });

  it('an endpoint is registered, edited, tested and deleted, and a delivery is sent again', async () => {
    const { id } = await addEndpoint();
    const stored = () => service.endpoints.kept.get(id) as EndpointRecord;
    const { page } = await open();
    await page.goto(`${service.url}/endpoints`);
    await page.getByRole('link', { name: /^Desk/ }).waitFor();
    await press(page, /^New endpoint/);
    await enter(page, /^Address/, 'https://alerts.example/in');
    await enter(page, /^Name/, 'Door');
    await press(page, /^Create/);
    await press(page, /^I have it/);
    expect(service.endpoints.kept.size).toBe(2);
    await press(page, /^Desk/);
    await press(page, /^Edit$/);
    await enter(page, /^Words in the sentence/, 'van');
    await press(page, /^tamper/, 'Space');
    await press(page, /^Save$/);
    await page.getByRole('form', { name: 'Edit the endpoint' }).waitFor({ state: 'detached' });
    expect(stored().settings).toMatchObject({ text: 'van', kinds: ['tamper'] });
    await press(page, /^Send a test event/);
    await eventually(() => expect(service.queue.deliveries).toHaveLength(1));
    await press(page, /^failed opened/);
    await press(page, /^Send again/);
    await eventually(() => expect(service.queue.deliveries).toContain(`dlv_${'1'.repeat(26)}`));
    await press(page, /^Delete$/);
    await press(page, /^Delete for good/);
    await eventually(() => expect(stored()).toBeUndefined());
  });
});
