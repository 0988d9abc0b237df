/** Form of an endpoint, a new one or one that is edited: its address, its format and its filters. */
import { type Signal, useSignal } from '@preact/signals';
import { FILTER_KINDS } from '../../../src/schemas/kinds.js';
import { ENDPOINT_EVENTS } from '../../../src/schemas/message.js';
import { type Endpoint, type EndpointPatch, SEVERITIES } from '../api/types.js';
import { t } from '../texts/texts.js';
import { Field } from '../ui/field.js';
import { LocaleSelect } from '../ui/locale-select.js';

type Format = Endpoint['format'];
const FORMATS: readonly (readonly [Format, name: string, address: string])[] = [
  ['standard-webhooks', 'Standard Webhooks', 'https://alerts.example/in'],
  ['cloudevents', 'CloudEvents', 'https://alerts.example/in'],
  ['cloudevents-binary', 'CloudEvents, binary', 'https://alerts.example/in'],
  ['alertmanager', 'Alertmanager', 'http://alertmanager.example:9093'],
  ['slack', 'Slack, Mattermost, Discord (/slack)', 'https://hooks.slack.com/services/…'],
  ['ntfy', 'ntfy', 'https://ntfy.sh/my-topic'],
  ['teams', 'Microsoft Teams (workflow)', 'https://….logic.azure.com/workflows/…'],
  ['telegram', 'Telegram (bot)', 'https://api.telegram.org/bot…?chat_id=…'],
  ['pagerduty', 'PagerDuty', 'https://events.pagerduty.com/v2/enqueue'],
  ['template', 'Liquid', 'https://alerts.example/in'],
  ['web-push', 'Web push', 'https://push.example/…'],
  ['email', 'E-mail', 'smtps://user@mail.example?from=…&to=…'],
  ['bucket', 'S3', 'https://s3.eu-central-1.amazonaws.com/my-bucket/evidence'],
];
/** Name of the secret of formats that send none as the header Authorization. */
const SECRETS: Readonly<Partial<Record<Format, string>>> = {
  pagerduty: t('Integration key'),
  email: t('Password'),
  'web-push': t('Keys of the subscription (p256dh:auth)'),
};

/** @returns the names in a text, separated by commas or spaces */
const namesIn = (text: string): string[] => [...new Set(text.split(/[\s,]+/).filter((name) => name !== ''))];

interface Props {
  /** undefined: a new one */
  readonly endpoint?: Endpoint;
  /** Sends the fields. The address and the authorization are left out if the stored ones stay. */
  readonly onSubmit: (fields: Omit<EndpointPatch, 'enabled'>) => Promise<unknown>;
  readonly onCancel?: () => void;
}

export function EndpointForm({ endpoint, onSubmit, onCancel }: Props) {
  const url = useSignal('');
  const description = useSignal(endpoint?.description ?? '');
  const locale = useSignal(endpoint?.locale ?? null);
  const format = useSignal<Format>(endpoint?.format ?? 'standard-webhooks');
  const authorization = useSignal('');
  const isUnauthorized = useSignal(false);
  const cameras = useSignal(endpoint?.cameras.join(', ') ?? '');
  const zones = useSignal(endpoint?.zones.join(', ') ?? '');
  const text = useSignal(endpoint?.text ?? '');
  const kinds = useSignal<readonly (typeof FILTER_KINDS)[number][]>(endpoint?.kinds ?? []);
  const events = useSignal<Endpoint['events']>(endpoint?.events ?? []);
  const severity = useSignal<(typeof SEVERITIES)[number]>(endpoint?.min_severity ?? 'info');
  const template = useSignal(endpoint?.template ?? '');
  const contentType = useSignal(endpoint?.content_type ?? 'application/json');
  const messages = useSignal(endpoint?.limit?.messages.toString() ?? '');
  const minutes = useSignal(endpoint?.limit?.minutes.toString() ?? '60');
  const hour = useSignal(endpoint?.brief?.hour.toString() ?? '');
  const zone = useSignal(endpoint?.brief?.time_zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone);
  const label = useSignal(endpoint?.brief?.label ?? '');
  const isSending = useSignal(false);

  const submit = async (event: Event) => {
    event.preventDefault();
    isSending.value = true;
    const address = url.value.trim();
    await onSubmit({
      ...(address === '' ? {} : { url: address }),
      ...(isUnauthorized.value ? { authorization: null } : {}),
      ...(authorization.value === '' ? {} : { authorization: authorization.value }),
      description: description.value === '' ? null : description.value,
      locale: locale.value,
      format: format.value,
      template: template.value === '' ? null : template.value,
      content_type: contentType.value,
      cameras: namesIn(cameras.value),
      zones: namesIn(zones.value),
      kinds: [...kinds.value],
      ...(events.value.length === 0 ? {} : { events: [...events.value] }),
      min_severity: severity.value,
      limit: messages.value === '' ? null : { messages: Number(messages.value), minutes: Number(minutes.value) },
      brief:
        format.value !== 'email' || hour.value === ''
          ? null
          : { hour: Number(hour.value), time_zone: zone.value.trim(), label: label.value.trim() || null },
      text: text.value.trim() === '' ? null : text.value.trim(),
    });
    isSending.value = false;
  };

  return (
    <form class="endpoint-form" aria-label={endpoint ? t('Edit the endpoint') : t('New endpoint')} onSubmit={submit}>
      <label>
        {t('Format')}
        <select
          value={format.value}
          onChange={(event) => {
            format.value = event.currentTarget.value as Format;
          }}
        >
          {FORMATS.map(([name, shown]) => (
            <option key={name} value={name}>
              {shown}
            </option>
          ))}
        </select>
      </label>
      <label>
        {endpoint ? t('Another address (empty: it stays {address})', { address: endpoint.url }) : t('Address')}
        <input
          required={endpoint === undefined}
          type="url"
          maxLength={2048}
          placeholder={FORMATS.find(([name]) => name === format.value)?.[2]}
          value={url.value}
          onInput={(event) => {
            url.value = event.currentTarget.value;
          }}
        />
      </label>
      {format.value === 'template' && (
        <>
          <label>
            {t('Template (Liquid)')}
            <textarea
              required
              rows={6}
              maxLength={20_000}
              value={template.value}
              onInput={(event) => {
                template.value = event.currentTarget.value;
              }}
            />
          </label>
          <Text name={t('Content type')} value={contentType} most={100} />
        </>
      )}
      <Text name={t('Name')} value={description} most={256} required={endpoint === undefined} />
      <LocaleSelect
        label={t('Language of the sentences')}
        value={locale.value}
        none={t('that of the camera')}
        onValue={(value) => {
          locale.value = value;
        }}
      />
      <Text
        name={
          endpoint?.has_authorization
            ? t('Another authorization (empty: it stays)')
            : (SECRETS[format.value] ?? t('Authorization (header, e.g. Bearer …)'))
        }
        value={authorization}
        most={1024}
        secret
      />
      {endpoint?.has_authorization && (
        <label class="endpoint-row">
          <input
            type="checkbox"
            checked={isUnauthorized.value}
            onChange={(event) => {
              isUnauthorized.value = event.currentTarget.checked;
            }}
          />
          {t('Send no authorization any more')}
        </label>
      )}
      <fieldset>
        <legend>{t('Only these alerts (empty: all)')}</legend>
        <Text name={t('Cameras (ids, gate-* for all that begin so)')} value={cameras} most={6_600} />
        <Text name={t('Zones (ids)')} value={zones} most={6_600} />
        <Text name={t('Words in the sentence')} value={text} most={200} />
        <label>
          {t('At least')}
          <select
            value={severity.value}
            onChange={(event) => {
              severity.value = event.currentTarget.value as typeof severity.value;
            }}
          >
            {SEVERITIES.map((one) => (
              <option key={one} value={one}>
                {t(one)}
              </option>
            ))}
          </select>
        </label>
        <Several all={FILTER_KINDS} chosen={kinds} />
      </fieldset>
      <fieldset>
        <legend>
          {t('At most so many messages about one camera (empty: no limit); one message reports the others')}
        </legend>
        <Count name={t('Messages')} value={messages} most={1000} />
        <Count name={t('in minutes')} value={minutes} most={1440} />
      </fieldset>
      {format.value === 'email' && (
        <fieldset>
          <legend>{t('The brief of the last 24 hours, once a day (empty hour: none)')}</legend>
          <Count name={t('Hour')} value={hour} least={0} most={23} />
          <Text name={t('Time zone')} value={zone} most={64} />
          <Text name={t('Label (empty: all cameras)')} value={label} most={64} />
        </fieldset>
      )}
      <fieldset>
        <legend>{endpoint ? t('Events (none: they stay)') : t('Events (none: the usual ones of the format)')}</legend>
        <Several all={ENDPOINT_EVENTS} chosen={events} />
      </fieldset>
      <div class="endpoint-row">
        <button type="submit" class="primary" disabled={isSending.value}>
          {endpoint ? t('Save') : t('Create')}
        </button>
        {onCancel && (
          <button type="button" onClick={onCancel}>
            {t('Cancel')}
          </button>
        )}
      </div>
    </form>
  );
}

interface SeveralProps<T> {
  readonly all: readonly T[];
  readonly chosen: Signal<readonly T[]>;
}

/** Buttons of which several can be pressed. */
const Several = <T extends string>({ all, chosen }: SeveralProps<T>) => (
  <div class="endpoint-row">
    {all.map((one) => (
      <button
        key={one}
        type="button"
        aria-pressed={chosen.value.includes(one)}
        onClick={() => {
          chosen.value = all.filter((other) => chosen.value.includes(other) !== (other === one));
        }}
      >
        {one}
      </button>
    ))}
  </div>
);

interface TextProps {
  readonly name: string;
  readonly value: { value: string };
  readonly most: number;
  readonly secret?: boolean;
  readonly required?: boolean;
}

const Count = ({ name, value, least = 1, most }: Omit<TextProps, 'secret' | 'required'> & { least?: number }) => (
  <Field
    name={name}
    type="number"
    min={least}
    max={most}
    value={value.value}
    onValue={(text) => {
      value.value = text;
    }}
  />
);

const Text = ({ name, value, most, secret = false, required = false }: TextProps) => (
  <Field
    name={name}
    type={secret ? 'password' : 'text'}
    maxLength={most}
    required={required}
    value={value.value}
    onValue={(text) => {
      value.value = text;
    }}
  />
);
