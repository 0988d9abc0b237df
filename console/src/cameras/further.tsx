/** Settings of a camera that few operators alter: thresholds, periods and retention. */
import type { Camera } from '../api/types.js';
import { t } from '../texts/texts.js';
import { Field } from '../ui/field.js';

/** Paths of the settings, their names and the attributes of their inputs; one that may be null is not required. */
const FIELDS = [
  ['alerts.callback_url', t('Address that receives the alerts'), { type: 'url', maxLength: 2048 }],
  ['model', t('Bundle that compares the frames (empty: the configured one)'), { type: 'text', maxLength: 128 }],
  ['threshold', t('Least confidence of a change (empty: that of the bundle or the budget)'), share(0, 1)],
  ['truth', t('Share of the statements that must be true (empty: that of the service)'), share(0.5, 0.99)],
  ['min_area', t('Smallest region, as a share of the frame'), { ...share(0, 1), required: true }],
  ['memory.absorb_s', t('Seconds until a thing that stays is part of the background'), seconds(60, 2_592_000)],
  ['gap_s', t('Seconds between two frames that are a gap'), seconds(1, 2_592_000)],
  ['examine_every_s', t('Seconds for which equal frames need no run of the model'), seconds(0, 86_400)],
  ['frozen_after_s', t('Seconds of equal frames until the camera is stuck (0: never)'), seconds(0, 86_400)],
  ['covered_after_s', t('Seconds until something on the lens is reported (0: never)'), seconds(0, 604_800)],
  [
    'silent_after_s',
    t('Seconds without a frame until the camera is reported as silent (0: never)'),
    seconds(0, 604_800),
  ],
  ['retention.frames_hours', t('Hours for which frames are kept (empty: as the service)'), share(0, 87_600)],
  ['retention.results_hours', t('Hours for which changes are kept (empty: as the service)'), share(1, 876_000)],
] as const;

/** An empty field is null. */
function share(min: number, max: number) {
  return { type: 'number', step: 'any', min, max } as const;
}
function seconds(min: number, max: number) {
  return { ...share(min, max), required: true } as const;
}

/** Texts of the fields, by path. */
export type FurtherDraft = Readonly<Record<string, string>>;

const memberOf = (value: unknown, name: string): unknown =>
  (value as Readonly<Record<string, unknown>> | undefined)?.[name];

export const furtherOf = (camera: Camera): FurtherDraft =>
  Object.fromEntries(FIELDS.map(([path]) => [path, String(path.split('.').reduce<unknown>(memberOf, camera) ?? '')]));

/** @returns the settings of the draft: those of one object as one member */
export function furtherSettingsOf(texts: FurtherDraft) {
  const settings: Record<string, unknown> = {};
  for (const [path, , { type }] of FIELDS) {
    const text = texts[path] ?? '';
    const value = text.trim() === '' ? null : type === 'number' ? Number(text) : text.trim();
    const [first = '', second] = path.split('.');
    settings[first] = second === undefined ? value : { ...(settings[first] as object | undefined), [second]: value };
  }
  return settings as Pick<Camera, 'threshold'> & { readonly alerts: Pick<Camera['alerts'], 'callback_url'> };
}

interface Props {
  readonly draft: FurtherDraft;
  readonly onDraft: (draft: FurtherDraft) => void;
}

export const Further = ({ draft, onDraft }: Props) => (
  <details class="further">
    <summary>{t('Further settings')}</summary>
    {FIELDS.map(([path, name, input]) => (
      <Field
        key={path}
        {...input}
        setting={path}
        name={name}
        value={draft[path] ?? ''}
        onValue={(text) => onDraft({ ...draft, [path]: text })}
      />
    ))}
  </details>
);
