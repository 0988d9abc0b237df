/** Severity of changes: the first rule of which all conditions hold decides. */
import { useState } from 'preact/hooks';
import type { Camera, Zone } from '../api/types.js';
import { t } from '../texts/texts.js';
import { SeverityOptions } from './severity-options.js';
import { NIGHT, Windows } from './windows.js';

export type SeverityRule = Camera['alerts']['severity_rules'][number];

const KINDS = ['appear', 'disappear', 'move', 'replace', 'tamper', 'object_left', 'object_removed'] as const;

/** Sentences that the service reads, in the language in which it reads them. */
const EXAMPLES = [
  'a person has appeared',
  'a person has stayed longer than 60 s',
  'a car or a van has appeared',
  'a bag has appeared',
  'a car came and left',
];

/** The severity of tampering without rules: a new rule alters nothing until it is edited. */
const NEW_RULE: SeverityRule = { kind: 'tamper', severity: 'high' };

interface Props {
  readonly rules: readonly SeverityRule[];
  readonly zones: readonly Zone[];
  readonly onRules: (rules: readonly SeverityRule[]) => void;
}

export function SeverityRules({ rules, zones, onRules }: Props) {
  /** @param given members without a value are left out, which means: any */
  const put = (i: number, given: Partial<Record<keyof SeverityRule, unknown>>) => {
    const entries = Object.entries({ ...rules[i], ...given }).filter(([, value]) => value !== '');
    onRules(rules.with(i, Object.fromEntries(entries) as SeverityRule));
  };
  const raise = (i: number) => onRules(rules.toSpliced(i, 1).toSpliced(i - 1, 0, rules[i] as SeverityRule));
  return (
    <>
      <h2>{t('What is told, and how severe it is')}</h2>
      <p class="quiet">
        {t(
          'The first rule that holds decides, then the severity of the zone. Without either, tampering is ' +
            'high and anything else medium. An object left or removed is one step more severe, unless a ' +
            'rule names it.',
        )}
      </p>
      <p class="quiet">
        {t(
          'A rule may have a sentence: things, what became of them, and a zone. To be alerted about ' +
            'nothing else, add a last rule with the severity info.',
        )}{' '}
        {t(
          '"A person has stayed longer than 60 s in the yard" or "a car came and left" is about visits, ' +
            'and alerts each once.',
        )}
      </p>
      <ol class="severity-rules">
        {rules.map((rule, i) => (
          <li key={i}>
            <input
              class="rule-sentence"
              maxLength={200}
              placeholder={t('any change, or: a person or a red car has appeared at the gate')}
              name="alerts.severity_rules.when"
              aria-label={t('Sentence of rule {n}', { n: i + 1 })}
              value={rule.when ?? ''}
              onInput={({ currentTarget: { value } }) => {
                put(i, { when: value, ...(value === '' ? { when_probability: '' } : {}) });
              }}
            />
            <select
              name="alerts.severity_rules.severity"
              aria-label={t('Severity of rule {n}', { n: i + 1 })}
              value={rule.severity}
              onChange={(event) => put(i, { severity: event.currentTarget.value })}
            >
              <SeverityOptions />
            </select>
            <select
              name="alerts.severity_rules.kind"
              aria-label={t('Kind of rule {n}', { n: i + 1 })}
              value={rule.kind ?? ''}
              onChange={(event) => put(i, { kind: event.currentTarget.value })}
            >
              <option value="">{t('any kind')}</option>
              {KINDS.map((kind) => (
                <option key={kind} value={kind}>
                  {kind}
                </option>
              ))}
            </select>
            <select
              name="alerts.severity_rules.zone"
              aria-label={t('Zone of rule {n}', { n: i + 1 })}
              value={rule.zone ?? ''}
              onChange={(event) => put(i, { zone: event.currentTarget.value })}
            >
              <option value="">{t('anywhere')}</option>
              {zones.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name ?? id}
                </option>
              ))}
            </select>
            <input
              type="number"
              min={0}
              max={100}
              step="any"
              placeholder={t('% of frame')}
              name="alerts.severity_rules.min_area"
              aria-label={t('Least area of rule {n}, in percent of the frame', { n: i + 1 })}
              value={rule.min_area === undefined ? '' : Number((rule.min_area * 100).toPrecision(6))}
              onInput={({ currentTarget: { value } }) => put(i, { min_area: value === '' ? '' : Number(value) / 100 })}
            />
            {rule.when !== undefined && (
              <label class="rule-sentence">
                {t('Least probability of the sentence, in percent')}
                <input
                  type="number"
                  min={0}
                  max={100}
                  step="any"
                  placeholder="50"
                  name="alerts.severity_rules.when_probability"
                  aria-label={t('Least probability of the sentence of rule {n}, in percent', { n: i + 1 })}
                  value={
                    rule.when_probability === undefined ? '' : Number((rule.when_probability * 100).toPrecision(6))
                  }
                  onInput={({ currentTarget: { value } }) => {
                    put(i, { when_probability: value === '' ? '' : Number(value) / 100 });
                  }}
                />
              </label>
            )}
            {rule.during !== undefined && (
              <Windows
                setting="alerts.severity_rules.during"
                legend={t('The rule holds')}
                windows={rule.during}
                onWindows={(during) => put(i, { during: during.length === 0 ? '' : during })}
              />
            )}
            <span class="rule-line">
              {rule.during === undefined && (
                <button
                  type="button"
                  aria-label={t('Times of rule {n}', { n: i + 1 })}
                  onClick={() => put(i, { during: [NIGHT] })}
                >
                  {t('Times')}
                </button>
              )}
              <button
                type="button"
                disabled={i === 0}
                onClick={() => raise(i)}
                aria-label={t('Move rule {n} up', { n: i + 1 })}
              >
                ↑
              </button>
              <button
                type="button"
                onClick={() => onRules(rules.toSpliced(i, 1))}
                aria-label={t('Remove rule {n}', { n: i + 1 })}
              >
                {t('Remove')}
              </button>
            </span>
          </li>
        ))}
      </ol>
      <NewRule onRule={(rule) => onRules([...rules, rule])} />
    </>
  );
}

/** A rule begins with its sentence; one without is about a kind, a zone or an area, which are chosen afterwards. */
function NewRule({ onRule }: { readonly onRule: (rule: SeverityRule) => void }) {
  const [when, setWhen] = useState('');
  const [severity, setSeverity] = useState<SeverityRule['severity']>('high');
  const add = () => {
    onRule(when.trim() === '' ? NEW_RULE : { when: when.trim(), severity });
    setWhen('');
  };
  return (
    <fieldset class="new-rule">
      <legend>{t('Tell me when …')}</legend>
      <input
        maxLength={200}
        list="rule-examples"
        placeholder={EXAMPLES[0] ?? ''}
        aria-label={t('Sentence of a new rule')}
        value={when}
        onInput={(event) => setWhen(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') add();
        }}
      />
      <datalist id="rule-examples">
        {EXAMPLES.map((example) => (
          <option key={example} value={example} />
        ))}
      </datalist>
      <select
        aria-label={t('Severity of a new rule')}
        value={severity}
        onChange={(event) => setSeverity(event.currentTarget.value as SeverityRule['severity'])}
      >
        <SeverityOptions />
      </select>
      <button type="button" onClick={add}>
        {t('Add a rule')}
      </button>
    </fieldset>
  );
}
