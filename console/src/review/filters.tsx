/** Fields that filter the list of changes. */
import type { Ref } from 'preact';
import { SEVERITIES } from '../api/types.js';
import { labelsOf } from '../cameras/store.js';
import { t } from '../texts/texts.js';
import { Calendar } from './calendar.js';
import type { Filter } from './filter.js';
import { cameras, hasLabel } from './store.js';

const KINDS = ['appear', 'disappear', 'move', 'replace', 'tamper', 'object_left', 'object_removed'];

interface Props {
  readonly filter: Filter;
  readonly search: Ref<HTMLInputElement>;
  readonly onFilter: (part: Partial<Filter>) => void;
}

export function Filters({ filter, search, onFilter }: Props) {
  const labels = labelsOf(cameras.value);
  const ofLabel = cameras.value.filter(({ id }) => hasLabel(id, filter.label));
  const shown = ofLabel.filter(({ id }) => filter.camera === '' || id === filter.camera);
  const zones = new Map(shown.flatMap((camera) => camera.zones.map(({ id, name }) => [id, name ?? id] as const)));
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      <label>
        {t('Search')}
        <input
          ref={search}
          type="search"
          value={filter.q}
          maxLength={500}
          aria-keyshortcuts="/"
          placeholder={t('press /')}
          onInput={(event) => onFilter({ q: event.currentTarget.value, like: '' })}
        />
      </label>
      {(labels.length > 0 || filter.label !== '') && (
        <Choice
          name={t('Label')}
          value={filter.label}
          options={labels.map((label) => [label, label])}
          onChange={(label) => onFilter({ label, camera: '', zone: '' })}
        />
      )}
      <Choice
        name={t('Camera')}
        value={filter.camera}
        options={ofLabel.map(({ id, name }) => [id, name ?? id])}
        onChange={(camera) => onFilter({ camera, zone: '' })}
      />
      <Choice
        name={t('Severity')}
        value={filter.severity}
        options={SEVERITIES.map((severity) => [severity, t(severity)])}
        onChange={(severity) => onFilter({ severity })}
      />
      <Choice name={t('Zone')} value={filter.zone} options={[...zones]} onChange={(zone) => onFilter({ zone })} />
      <Choice
        name={t('Kind')}
        value={filter.kind}
        options={KINDS.map((kind) => [kind, t(kind)])}
        onChange={(kind) => onFilter({ kind })}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={filter.list === ''}
          onChange={(event) => onFilter({ list: event.currentTarget.checked ? '' : 'changes' })}
        />
        {t('Group by visit')}
      </label>
      <details class="day-choice" key={filter.day}>
        <summary>{filter.day === '' ? t('All days') : filter.day}</summary>
        <Calendar camera={filter.camera} label={filter.label} day={filter.day} onDay={(day) => onFilter({ day })} />
      </details>
    </form>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, name: string])[];
  readonly onChange: (value: string) => void;
}

function Choice({ name, value, options, onChange }: ChoiceProps) {
  // A link may name a value that is not there any more; it is shown rather than dropped.
  const all = value === '' || options.some(([one]) => one === value) ? options : [...options, [value, value] as const];
  return (
    <label>
      {name}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{t('all')}</option>
        {all.map(([one, shown]) => (
          <option key={one} value={one}>
            {shown}
          </option>
        ))}
      </select>
    </label>
  );
}
