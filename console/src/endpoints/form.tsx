/** Form of a new endpoint: its address, its format and its filters. */
import { useSignal } from '@preact/signals';
import { type EndpointRequest, SEVERITIES } from '../api/types.js';
import { createEndpoint } from './store.js';

type Format = NonNullable<EndpointRequest['format']>;
const FORMATS: readonly (readonly [Format, name: string, address: string])[] = [
  ['standard-webhooks', 'Standard Webhooks', 'https://alerts.example/in'],
  ['cloudevents', 'CloudEvents', 'https://alerts.example/in'],
  ['cloudevents-binary', 'CloudEvents, binary', 'https://alerts.example/in'],
  ['alertmanager', 'Alertmanager', 'http://alertmanager.example:9093'],
  ['slack', 'Slack, Mattermost, Discord (/slack)', 'https://hooks.slack.com/services/…'],
  ['ntfy', 'ntfy', 'https://ntfy.sh/my-topic'],
];
const KINDS = ['appear', 'disappear', 'move', 'replace', 'tamper'] as const;

/** @returns the names in a text, separated by commas or spaces */
const namesIn = (text: string): string[] => [...new Set(text.split(/[\s,]+/).filter((name) => name !== ''))];

export function EndpointForm({ onDone }: { readonly onDone: (id: string) => void }) {
  const url = useSignal('');
  const description = useSignal('');
  const format = useSignal<Format>('standard-webhooks');
  const authorization = useSignal('');
  const cameras = useSignal('');
  const zones = useSignal('');
  const text = useSignal('');
  const kinds = useSignal<readonly (typeof KINDS)[number][]>([]);
  const severity = useSignal<(typeof SEVERITIES)[number]>('info');
  const isSending = useSignal(false);

  const submit = async (event: Event) => {
    event.preventDefault();
    isSending.value = true;
    const id = await createEndpoint({
      url: url.value.trim(),
      description: description.value === '' ? null : description.value,
      format: format.value,
      authorization: authorization.value === '' ? null : authorization.value,
      cameras: namesIn(cameras.value),
      zones: namesIn(zones.value),
      kinds: [...kinds.value],
      min_severity: severity.value,
      text: text.value.trim() === '' ? null : text.value.trim(),
    });
    isSending.value = false;
    if (id !== undefined) onDone(id);
  };

  const toggle = (kind: (typeof KINDS)[number]) => {
    kinds.value = kinds.value.includes(kind) ? kinds.value.filter((one) => one !== kind) : [...kinds.value, kind];
  };

  return (
    <form class="endpoint-form" aria-label="New endpoint" onSubmit={submit}>
      <label>
        Format
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
        Address
        <input
          required
          type="url"
          maxLength={2048}
          placeholder={FORMATS.find(([name]) => name === format.value)?.[2]}
          value={url.value}
          onInput={(event) => {
            url.value = event.currentTarget.value;
          }}
        />
      </label>
      <Text name="Description" value={description} most={256} />
      <Text name="Authorization (header, e.g. Bearer …)" value={authorization} most={1024} secret />
      <fieldset>
        <legend>Only these alerts (empty: all)</legend>
        <Text name="Cameras (ids, gate-* for all that begin so)" value={cameras} most={6_600} />
        <Text name="Zones (ids)" value={zones} most={6_600} />
        <Text name="Words in the sentence" value={text} most={200} />
        <label>
          At least
          <select
            value={severity.value}
            onChange={(event) => {
              severity.value = event.currentTarget.value as typeof severity.value;
            }}
          >
            {SEVERITIES.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <div class="endpoint-row">
          {KINDS.map((kind) => (
            <button key={kind} type="button" aria-pressed={kinds.value.includes(kind)} onClick={() => toggle(kind)}>
              {kind}
            </button>
          ))}
        </div>
      </fieldset>
      <button type="submit" class="primary" disabled={isSending.value}>
        Create
      </button>
    </form>
  );
}

interface TextProps {
  readonly name: string;
  readonly value: { value: string };
  readonly most: number;
  readonly secret?: boolean;
}

const Text = ({ name, value, most, secret = false }: TextProps) => (
  <label>
    {name}
    <input
      type={secret ? 'password' : 'text'}
      autocomplete="off"
      maxLength={most}
      value={value.value}
      onInput={(event) => {
        value.value = event.currentTarget.value;
      }}
    />
  </label>
);
