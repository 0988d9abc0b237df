/** The page "Endpoints" in Chromium. */
import { openSecrets } from '../../src/endpoints/secrets.js';
import type { EndpointPatch } from '../../src/endpoints/settings.js';
import { ENDPOINT_EVENTS } from '../../src/schemas/message.js';
import type { EndpointRecord } from '../../src/stores/delivery/endpoints.js';
import { describeInBrowser, inspect } from '../helpers/browser.js';
import { useConsole } from '../helpers/console-service.js';
import { KEY, storedEndpoint } from '../helpers/endpoints.js';
import { eventually } from '../helpers/eventually.js';

const { open, service } = await useConsole();

/** Limit of a test with screenshots; it only catches a page that hangs. */
const LIMIT_MS = 60_000;
const HOSTILE = '<img src=x onerror="document.title=1"> {{1}}';
const stopped = { at: new Date(0).toISOString(), reason: 'gone' as const, detail: 'the receiver answered 410 Gone' };

const delivered = (endpoint: string) => {
  const attempt = { at: new Date().toISOString(), duration_ms: 12 };
  service.deliveries.kept.push({
    ...{
      id: `dlv_${'1'.repeat(26)}`,
      endpoint,
      subject: { kind: 'change', id: 'chg_1' },
      event: 'change.opened',
      url: 'https://r.example/',
    },
    ...{ state: 'failed', next_attempt_at: null },
    attempts: [
      { ...attempt, attempt: 1, status: 500, error: 'the receiver answered 500, expected 2xx' },
      { ...attempt, attempt: 2, status: 400, error: `the receiver answered 400, expected 2xx; it said: ${HOSTILE}` },
    ],
  });
};

describeInBrowser('The page "Endpoints"', () => {
  it(
    'registers a receiver by keyboard, and shows its secret once',
    async () => {
      const { page, errors } = await open();
      await page.goto(`${service.url}/endpoints`);
      await page.getByText('No receiver is registered').waitFor();
      await page.getByRole('button', { name: 'New endpoint' }).focus();
      await page.keyboard.press('Enter');
      await page.getByLabel('Address').fill('https://alerts.example/in?token=hunter2');
      await page.getByLabel('Name').fill('Desk');
      await page.getByLabel(/^Cameras/).fill('gate-*, yard');
      await page.getByLabel('At least').selectOption('high');
      await page.getByRole('button', { name: 'tamper' }).focus();
      await page.keyboard.press('Space');
      const events = page.getByRole('group', { name: /^Events/ }).getByRole('button');
      expect((await events.allInnerTexts()).sort()).toEqual([...ENDPOINT_EVENTS].sort());
      for (const name of ['visit.opened', 'change.opened']) await events.filter({ hasText: name }).press('Space');
      expect(await inspect(page, 'endpoints-new')).toEqual([]);
      await page.getByLabel('Address').press('Enter');
      const secret = await page.getByText(/^whsec_/).innerText();
      await page.getByRole('button', { name: 'I have it' }).click();
      await page.reload();
      await page.getByRole('heading', { name: 'Desk' }).waitFor();
      expect(await page.content()).not.toContain(secret);
      expect(await page.content()).not.toContain('hunter2');
      const [{ settings } = { settings: undefined }] = [...service.endpoints.kept.values()];
      expect(settings).toMatchObject({ cameras: ['gate-*', 'yard'], kinds: ['tamper'], min_severity: 'high' });
      expect(settings?.events).toEqual(['change.opened', 'visit.opened']);
      expect(errors).toEqual([]);
    },
    LIMIT_MS,
  );

  it('says what is wrong with an address', async () => {
    const { page } = await open();
    await page.goto(`${service.url}/endpoints`);
    await page.getByRole('button', { name: 'New endpoint' }).click();
    await page.getByLabel('Name').fill('Desk');
    await page.getByLabel('Address').fill('http://10.0.0.8/in');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('10.0.0.8 is a private address').waitFor();
    expect(service.endpoints.kept.size).toBe(0);
  });

  it(
    'shows attempts as text, and sends again',
    async () => {
      const endpoint = storedEndpoint('https://r.example/in', { description: HOSTILE });
      await service.endpoints.create(endpoint);
      delivered(endpoint.id);
      const { page, errors } = await open();
      await page.goto(`${service.url}/endpoints`);
      await page.getByRole('link', { name: 'onerror' }).click();
      await page.getByText('failed opened').click();
      await page.getByText('the receiver answered 500, expected 2xx').waitFor();
      await page.getByText(`the receiver answered 400, expected 2xx; it said: ${HOSTILE}`).waitFor();
      expect(await page.getByText(HOSTILE).count()).toBeGreaterThanOrEqual(3);
      expect(await inspect(page, 'endpoints')).toEqual([]);
      await page.getByRole('button', { name: 'Send again' }).click();
      await page.getByText('Queued again.').waitFor();
      expect(service.queue.deliveries).toEqual([`dlv_${'1'.repeat(26)}`]);
      expect(errors).toEqual([]);
    },
    LIMIT_MS,
  );

  it(
    'edits filters, format, address and authorization, and keeps those that are left empty',
    async () => {
      const given: EndpointPatch = { description: 'Desk', cameras: ['gate'], zones: ['dock'], kinds: ['appear'] };
      const login = { authorization: 'Bearer old' };
      const endpoint = storedEndpoint('https://r.example/in?token=1', given, login);
      await service.endpoints.create(endpoint);
      const { page, errors } = await open();
      await page.goto(`${service.url}/endpoints/${endpoint.id}`);
      const edit = page.getByRole('button', { name: 'Edit' });
      await edit.click();
      const form = page.getByRole('form', { name: 'Edit the endpoint' });
      await form.getByLabel(/^Cameras/).fill('gate-*, yard');
      await form.getByLabel(/^Zones/).fill('');
      await form.getByLabel('At least').selectOption('high');
      await form.getByLabel('Words in the sentence').fill('red van');
      await form.getByRole('button', { name: 'appear', exact: true }).click();
      await form.getByRole('button', { name: 'tamper' }).click();
      expect(await inspect(page, 'endpoints-edit')).toEqual([]);
      await form.getByRole('button', { name: 'Save' }).click();
      await form.waitFor({ state: 'detached' });
      const stored = () => service.endpoints.kept.get(endpoint.id) as EndpointRecord;
      const secrets = () => openSecrets(endpoint.id, stored().sealed, KEY);
      expect(stored().settings).toMatchObject({
        ...{ description: 'Desk', format: 'standard-webhooks', cameras: ['gate-*', 'yard'], zones: [] },
        ...{ kinds: ['tamper'], min_severity: 'high', text: 'red van' },
      });
      expect(stored().sealed).toBe(endpoint.sealed);
      await edit.click();
      await form.getByLabel('Format').selectOption('ntfy');
      await form.getByLabel(/^Another address/).fill('https://ntfy.example/');
      await form.getByRole('button', { name: 'Save' }).click();
      await page.getByText(/expected an address that ends with a topic/).waitFor();
      expect(await form.getByLabel('Format').inputValue()).toBe('ntfy');
      await form.getByLabel(/^Another address/).fill('https://ntfy.example/topic');
      await form.getByLabel('Send no authorization any more').check();
      await form.getByRole('button', { name: 'Save' }).click();
      await form.waitFor({ state: 'detached' });
      expect(stored().settings.format).toBe('ntfy');
      expect(secrets()).toMatchObject({ url: 'https://ntfy.example/topic', authorization: null });
      await edit.click();
      await form.getByRole('button', { name: 'Cancel' }).click();
      expect(await form.count()).toBe(0);
      expect(errors).toEqual([]);
    },
    LIMIT_MS,
  );

  it(
    'sends a test event, rotates the secret, starts a stopped endpoint and deletes it',
    async () => {
      const endpoint = storedEndpoint('https://r.example/in', { description: 'Desk' });
      await service.endpoints.create(endpoint);
      const { page, errors } = await open();
      await page.goto(`${service.url}/endpoints/${endpoint.id}`);
      await page.getByRole('button', { name: 'Send a test event' }).click();
      await eventually(() => expect(service.queue.deliveries).toHaveLength(1));
      await page.getByRole('button', { name: 'Rotate the secret' }).click();
      await page.getByText(/^whsec_/).waitFor();
      await page.getByText('Earlier secret valid until').waitFor();
      service.endpoints.kept.set(endpoint.id, { ...endpoint, ...NOTHING, stopped });
      await page.reload();
      await page.getByText('the receiver answered 410 Gone').first().waitFor();
      await page.getByRole('button', { name: 'Start' }).click();
      await eventually(() => expect(service.endpoints.kept.get(endpoint.id)?.stopped).toBeNull());
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('button', { name: 'Delete for good' }).click();
      await page.getByText('No receiver is registered').waitFor();
      expect(errors).toEqual([]);
    },
    LIMIT_MS,
  );
});

const NOTHING = {
  heldBack: 0,
  briefUntil: null,
  failingSince: null,
  lastDeliveredAt: null,
  lastError: null,
  permission: null,
};
