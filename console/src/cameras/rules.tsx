/** Rules of a camera: what its frames are compared with, when a change is confirmed, and its false-alarm budget. */
import type { Signal } from '@preact/signals';
import type { Camera, SEVERITIES, Zone } from '../api/types.js';
import { t } from '../texts/texts.js';
import { Field } from '../ui/field.js';
import { percent } from '../ui/format.js';
import { LocaleSelect } from '../ui/locale-select.js';
import { Further, type FurtherDraft, furtherOf, furtherSettingsOf } from './further.js';
import { type Preset, PresetChoice } from './preset.js';
import { PauseField, type Schedule, ScheduleFields } from './schedule.js';
import { SeverityOptions } from './severity-options.js';
import { type SeverityRule, SeverityRules } from './severity-rules.js';
import { labelsIn } from './store.js';

/** Texts of the fields, as they are edited. */
export interface RulesDraft {
  readonly name: string;
  readonly locale: Camera['locale'];
  readonly before: Camera['before'];
  readonly confirmFrames: string;
  readonly persistS: string;
  readonly cooldownS: string;
  readonly labels: string;
  readonly leftAfterS: string;
  readonly minSeverity: (typeof SEVERITIES)[number];
  readonly falseAlarmsPerDay: string;
  readonly schedule: Schedule | null;
  readonly suspendUntil: string | null;
  readonly severityRules: readonly SeverityRule[];
  /** null: rules of its own */
  readonly preset: Preset | null;
  readonly further: FurtherDraft;
}

export function rulesOf(camera: Camera): RulesDraft {
  const { name, labels, locale, before, alerts, false_alarms_per_day, schedule, suspend_until } = camera;
  return {
    name: name ?? '',
    labels: labels.join(', '),
    locale,
    before,
    confirmFrames: String(alerts.confirm_frames),
    persistS: String(alerts.persist_s),
    cooldownS: String(alerts.cooldown_s),
    leftAfterS: String(alerts.left_after_s),
    minSeverity: alerts.min_severity,
    falseAlarmsPerDay: false_alarms_per_day === null ? '' : String(false_alarms_per_day),
    schedule,
    suspendUntil: suspend_until,
    severityRules: alerts.severity_rules,
    preset: camera.preset ?? null,
    further: furtherOf(camera),
  };
}

/** @returns the settings of the draft; a preset takes the place of rules, and a budget that of a threshold */
export function settingsOf(draft: RulesDraft, { alerts, preset = null }: Camera) {
  const further = furtherSettingsOf(draft.further);
  const isPreset = draft.preset !== null && draft.preset !== preset;
  const { severity_rules: _rules, min_severity: _from, ...others } = alerts;
  return {
    ...further,
    preset: draft.preset,
    name: draft.name === '' ? null : draft.name,
    labels: labelsIn(draft.labels),
    locale: draft.locale,
    before: draft.before,
    false_alarms_per_day: draft.falseAlarmsPerDay === '' ? null : Number(draft.falseAlarmsPerDay),
    threshold: draft.falseAlarmsPerDay === '' ? further.threshold : null,
    schedule: draft.schedule,
    suspend_until: draft.suspendUntil,
    alerts: {
      ...others,
      ...further.alerts,
      confirm_frames: Number(draft.confirmFrames),
      persist_s: Number(draft.persistS),
      cooldown_s: Number(draft.cooldownS),
      left_after_s: Number(draft.leftAfterS),
      ...(isPreset ? {} : { min_severity: draft.minSeverity, severity_rules: [...draft.severityRules] }),
    } as Camera['alerts'],
  };
}

const BEFORE = [
  ['previous', t('the frame before')],
  ['reference', t('a fixed reference')],
  ['memory', t('a background model, learned per light')],
] as const;

interface Props {
  readonly camera: Camera;
  readonly draft: Signal<RulesDraft>;
  /** the edited ones */
  readonly zones: readonly Zone[];
}

export function Rules({ camera, draft, zones }: Props) {
  const put = (part: Partial<RulesDraft>) => {
    draft.value = { ...draft.value, ...part };
  };
  const budget = camera.false_alarm_budget;
  return (
    <>
      <section aria-label={t('Camera')} class="panel">
        <h2>{t('Camera')}</h2>
        <Field
          setting="name"
          name={t('Name of the camera')}
          maxLength={128}
          value={draft.value.name}
          placeholder={camera.id}
          onValue={(name) => put({ name })}
        />
        <Field
          setting="labels"
          name={t('Labels (with commas between them)')}
          maxLength={1024}
          value={draft.value.labels}
          onValue={(labels) => put({ labels })}
        />
        <LocaleSelect
          setting="locale"
          label={t('Language of the sentences')}
          value={draft.value.locale}
          none={t('English')}
          onValue={(locale) => put({ locale })}
        />
      </section>
      <section aria-label={t('Rules')} class="panel">
        <h2>{t('Rules')}</h2>
        <label>
          {t('Compare frames with')}
          <select
            name="before"
            value={draft.value.before}
            onChange={(event) => put({ before: event.currentTarget.value as Camera['before'] })}
          >
            {BEFORE.map(([mode, meaning]) => (
              <option key={mode} value={mode}>
                {meaning}
              </option>
            ))}
          </select>
        </label>
        <div class="rule-numbers">
          <Figure
            setting="alerts.confirm_frames"
            name={t('Frames in a row')}
            value={draft.value.confirmFrames}
            min={1}
            onValue={(v) => put({ confirmFrames: v })}
          />
          <Figure
            setting="alerts.persist_s"
            name={t('Seconds it must last')}
            value={draft.value.persistS}
            min={0}
            onValue={(v) => put({ persistS: v })}
          />
          <Figure
            setting="alerts.cooldown_s"
            name={t('Cool-down, seconds')}
            value={draft.value.cooldownS}
            min={0}
            onValue={(v) => put({ cooldownS: v })}
          />
          <Figure
            setting="alerts.left_after_s"
            name={t('Seconds until an object counts as left (0: never)')}
            value={draft.value.leftAfterS}
            min={0}
            onValue={(v) => put({ leftAfterS: v })}
          />
          <label>
            {t('Alert from')}
            <select
              name="alerts.min_severity"
              value={draft.value.minSeverity}
              onChange={(event) =>
                put({ preset: null, minSeverity: event.currentTarget.value as RulesDraft['minSeverity'] })
              }
            >
              <SeverityOptions />
            </select>
          </label>
        </div>
      </section>
      <section class="panel panel-wide">
        <PresetChoice value={draft.value.preset} onValue={(preset) => put({ preset })} />
        <SeverityRules
          rules={draft.value.severityRules}
          zones={zones}
          onRules={(severityRules) => put({ preset: null, severityRules })}
        />
      </section>
      <section class="panel">
        <h2>{t('Times')}</h2>
        <ScheduleFields schedule={draft.value.schedule} onSchedule={(schedule) => put({ schedule })} />
        <PauseField until={draft.value.suspendUntil} onUntil={(suspendUntil) => put({ suspendUntil })} />
      </section>
      <section class="panel">
        <h2>{t('False-alarm budget')}</h2>
        <Figure
          setting="false_alarms_per_day"
          name={t('Accepted false alarms per day (empty: no budget)')}
          value={draft.value.falseAlarmsPerDay}
          min={0.01}
          onValue={(v) => put({ falseAlarmsPerDay: v })}
        />
        {budget !== undefined && (
          <p class={budget.met === false ? 'fault' : 'quiet'}>
            {budget.detail}
            {budget.threshold !== null && ` (${t('threshold {share}', { share: percent(budget.threshold) })})`}
          </p>
        )}
      </section>
      <section class="panel">
        <Further draft={draft.value.further} onDraft={(further) => put({ further })} />
      </section>
    </>
  );
}

type FigureProps = Pick<Parameters<typeof Field>[0], 'name' | 'setting' | 'value' | 'min' | 'onValue'>;

const Figure = (props: FigureProps) => <Field type="number" step="any" {...props} />;
