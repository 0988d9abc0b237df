/** The form of a camera against the schema of its settings: each setting has a field, and each field is saved. */
import { CameraSettingsSchema } from '../../src/camera/settings/settings.js';
import { describeInBrowser, inspect } from '../helpers/browser.js';
import { useConsole } from '../helpers/console-service.js';
import { eventually } from '../helpers/eventually.js';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
}

/** @returns the paths of the settings that have no members of their own, e.g. 'alerts.severity_rules.kind' */
function pathsOf({ properties, anyOf = [], items }: Schema, path: readonly string[] = []): string[] {
  if (properties !== undefined)
    return Object.entries(properties).flatMap(([name, one]) => pathsOf(one, [...path, name]));
  const parts = [...anyOf, ...(items === undefined ? [] : [items])].filter(
    (one) => one.properties !== undefined || one.items?.properties !== undefined || one.anyOf !== undefined,
  );
  return parts.length === 0 ? [path.join('.')] : parts.flatMap((part) => pathsOf(part, path));
}

/** Ids are names in answers, and corners are drawn: neither is a field. */
const WITHOUT_FIELD = ['zones.id', 'zones.polygon'];

const NIGHT = { days: ['mon'], from: '18:00', to: '06:00' };
/** Has a part in each list, so that the form shows the fields of one. */
const SETTINGS = {
  zones: [
    {
      id: 'yard',
      name: 'yard',
      type: 'include',
      polygon: [
        [0, 0],
        [1, 0],
        [1, 1],
      ],
    },
  ],
  schedule: { timezone: 'Europe/Berlin', windows: [NIGHT] },
  alerts: {
    severity_rules: [{ when: 'a person has appeared', when_probability: 0.5, severity: 'high', during: [NIGHT] }],
  },
  snapshot: { url: 'http://192.168.1.20/snapshot.jpg', interval_s: 10 },
};

const { open, service } = await useConsole({ outboundAllow: ['192.168.1.20'] });

describeInBrowser('The form of a camera', () => {
  it('has a field for each setting of the schema', async () => {
    const put = await service.inject({ method: 'PUT', url: '/v1/cameras/gate', payload: SETTINGS });
    expect(put.statusCode).toBe(201);
    const { page, errors } = await open();
    await page.goto(`${service.url}/cameras/gate`);
    await page.getByRole('button', { name: 'yard include' }).click();
    await page.getByText('Further settings').click();
    const names = await page.locator('.camera [name]').evaluateAll((all) => all.map((one) => one.getAttribute('name')));
    const expected = pathsOf(CameraSettingsSchema as unknown as Schema);
    expect(expected).toEqual(expect.arrayContaining(['retention.frames_hours', 'alerts.severity_rules.when']));
    expect([...new Set(names)].filter(Boolean).sort()).toEqual(
      ['preset', ...expected.filter((path) => !WITHOUT_FIELD.includes(path))].sort(),
    );
    expect(await inspect(page, 'camera-form')).toEqual([]);
    expect(errors).toEqual([]);
  });

  it('saves the further settings that were altered, and no other', async () => {
    await service.inject({
      method: 'PUT',
      url: '/v1/cameras/gate',
      payload: { threshold: 0.5, retention: { results_hours: 24 } },
    });
    const { page, errors } = await open();
    const patches: unknown[] = [];
    page.on('request', (request) => request.method() === 'PATCH' && patches.push(request.postDataJSON()));
    await page.goto(`${service.url}/cameras/gate`);
    await page.getByText('Further settings').focus();
    await page.keyboard.press('Enter');
    const fill = (name: string, text: string) => page.locator(`[name="${name}"]`).fill(text);
    await fill('threshold', '');
    await fill('gap_s', '900');
    await fill('memory.absorb_s', '7200');
    await fill('retention.frames_hours', '12');
    await fill('alerts.callback_url', 'https://192.168.1.20/in');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect(patches).toEqual([
      {
        ...{ threshold: null, gap_s: 900, memory: { absorb_s: 7200 }, retention: { frames_hours: 12 } },
        alerts: { callback_url: 'https://192.168.1.20/in' },
      },
    ]);
    await eventually(async () => expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true));
    const { settings } = service.cameras.kept.get('gate') ?? {};
    expect(settings).toMatchObject({ gap_s: 900, threshold: null, retention: { frames_hours: 12, results_hours: 24 } });
    expect(errors).toEqual([]);
  });

  it('begins with what the alerts are about, and says what keeps them from being sent', async () => {
    const { page, errors } = await open();
    const bodies: unknown[] = [];
    page.on('request', (request) => {
      if (['PUT', 'PATCH'].includes(request.method())) bodies.push(request.postDataJSON());
    });
    await page.goto(`${service.url}/cameras`);
    await page.getByRole('button', { name: 'New camera' }).click();
    await page.getByLabel('Id of the camera').fill('gate');
    await page.getByRole('radio', { name: 'people at night' }).check();
    await page.getByRole('button', { name: 'Set up' }).click();
    await page.getByRole('radio', { name: 'people at night' }).and(page.locator(':checked')).waitFor();
    await page.getByRole('radio', { name: 'vehicles' }).check();
    await page.getByRole('button', { name: 'Save' }).click();
    const sentence = page.getByRole('textbox', { name: 'Sentence of rule 2' });
    await eventually(async () => expect(await sentence.inputValue()).toBe('a vehicle has appeared'));
    expect(bodies).toEqual([{ snapshot: null, preset: 'people_at_night' }, { preset: 'vehicles' }]);
    // A rule of one's own is no preset any more.
    await page.getByLabel('Sentence of a new rule').fill('a person has appeared');
    await page.getByRole('button', { name: 'Add a rule' }).click();
    expect(await page.getByRole('radio', { checked: true }).count()).toBe(0);
    await page.getByRole('radio', { name: 'nothing' }).check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('.camera-foot .fault').first().waitFor();
    expect(await inspect(page, 'camera-preset')).toEqual([]);
    expect(errors).toEqual([]);
  });
});
