/** Settings of a camera that few operators alter: thresholds, periods, retention, and the describer. */
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
  ['retention.frames_hours', t('Hours for which frames are kept (empty: as the service)'), share(0, 87_600)],
  ['retention.results_hours', t('Hours for which changes are kept (empty: as the service)'), share(1, 876_000)],
] as const;
const PRESETS = ['security', 'parking', 'site', 'retail', 'custom'] as const;

/** An empty field is null. */
function share(min: number, max: number) {
  return { type: 'number', step: 'any', min, max } as const;
}
function seconds(min: number, max: number) {
  return { ...share(min, max), required: true } as const;
}

export interface FurtherDraft {
  /** texts of the fields, by path */
  readonly texts: Readonly<Record<string, string>>;
  readonly describer: Camera['describer'];
}

const memberOf = (value: unknown, name: string): unknown =>
  (value as Readonly<Record<string, unknown>> | undefined)?.[name];

export const furtherOf = (camera: Camera): FurtherDraft => ({
  texts: Object.fromEntries(
    FIELDS.map(([path]) => [path, String(path.split('.').reduce<unknown>(memberOf, camera) ?? '')]),
  ),
  describer: camera.describer,
});

/** @returns the settings of the draft: those of one object as one member */
export function furtherSettingsOf({ texts, describer }: FurtherDraft) {
  const settings: Record<string, unknown> = { describer };
  for (const [path, , { type }] of FIELDS) {
    const text = texts[path] ?? '';
    const value = text.trim() === '' ? null : type === 'number' ? Number(text) : text.trim();
    const [first = '', second] = path.split('.');
    settings[first] = second === undefined ? value : { ...(settings[first] as object | undefined), [second]: value };
  }
  return settings as Pick<Camera, 'describer' | 'threshold'> & {
    readonly alerts: Pick<Camera['alerts'], 'callback_url'>;
  };
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
        value={draft.texts[path] ?? ''}
        onValue={(text) => onDraft({ ...draft, texts: { ...draft.texts, [path]: text } })}
      />
    ))}
    <Describer describer={draft.describer} onDescriber={(describer) => onDraft({ ...draft, describer })} />
  </details>
);

interface DescriberProps {
  readonly describer: Camera['describer'];
  readonly onDescriber: (describer: Camera['describer']) => void;
}

function Describer({ describer, onDescriber }: DescriberProps) {
  const choose = (preset: (typeof PRESETS)[number] | undefined) => {
    const instructions = preset === 'custom' ? (describer?.instructions ?? '') : null;
    onDescriber(preset === undefined ? null : { preset, instructions, frames: describer?.frames ?? false });
  };
  return (
    <>
      <label>
        {t('Words of confirmed changes, by a language model')}
        <select
          name="describer.preset"
          value={describer?.preset ?? ''}
          onChange={({ currentTarget: { value } }) => choose(PRESETS.find((preset) => preset === value))}
        >
          <option value="">{t('none: the sentence of the service')}</option>
          {PRESETS.map((preset) => (
            <option key={preset}>{preset}</option>
          ))}
        </select>
      </label>
      {describer !== null && (
        <label class="check">
          <input
            type="checkbox"
            name="describer.frames"
            checked={describer.frames}
            onChange={({ currentTarget: { checked } }) => onDescriber({ ...describer, frames: checked })}
          />
          {t('Also send it the frames')}
        </label>
      )}
      {describer?.preset === 'custom' && (
        <label>
          {t('Instructions')}
          <textarea
            name="describer.instructions"
            required
            rows={4}
            maxLength={2000}
            value={describer.instructions ?? ''}
            onInput={({ currentTarget: { value } }) => onDescriber({ ...describer, instructions: value })}
          />
        </label>
      )}
    </>
  );
}
