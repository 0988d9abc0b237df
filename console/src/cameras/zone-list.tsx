/** The zones of a camera as a list, and the fields of the selected one. */
import { Fragment } from 'preact';
import { LOSSY_MARGIN } from '../../../src/base/privacy-mask.js';
import type { Zone } from '../api/types.js';
import { t } from '../texts/texts.js';
import { Field } from '../ui/field.js';
import { PlaceName } from './place-name.js';
import { SeverityOptions } from './severity-options.js';

const TYPES = [
  ['include', t('only changes in such zones count')],
  ['ignore', t('changes in it do not count')],
  ['privacy', t('black in every frame that is stored, and 2 % of the frame beyond its outline')],
] as const;

/** Figures of a zone, and whether each must have a value. */
const LIMITS = [
  ['min_overlap', t('Least share of a region in the zone'), true],
  ['min_area', t('Smallest region, as a share of the frame'), false],
  ['threshold', t('Least score of a region'), false],
] as const;

interface Props {
  readonly zones: readonly Zone[];
  readonly selected: string | null;
  readonly onSelect: (id: string) => void;
  readonly onChange: (id: string, part: Partial<Zone>) => void;
  readonly onRemove: (id: string) => void;
  readonly onAdd: (type: Zone['type']) => void;
}

export function ZoneList({ zones, selected, onSelect, onChange, onRemove, onAdd }: Props) {
  const zone = zones.find(({ id }) => id === selected);
  return (
    <section aria-label={t('Zones')}>
      <h2>{t('Zones')}</h2>
      {zones.length === 0 && (
        <dl class="zone-types">
          {TYPES.map(([type, meaning]) => (
            <Fragment key={type}>
              <dt>{t(type)}</dt>
              <dd class="quiet">{meaning}</dd>
            </Fragment>
          ))}
        </dl>
      )}
      <ul class="zone-list">
        {zones.map(({ id, name, type }) => (
          <li key={id}>
            <button type="button" aria-pressed={id === selected} onClick={() => onSelect(id)}>
              <span class="clip">{name ?? id}</span> <span class="quiet">{t(type)}</span>
            </button>
          </li>
        ))}
      </ul>
      <fieldset class="zone-add" aria-label={t('Add a zone')}>
        {TYPES.map(([type, meaning]) => (
          <button key={type} type="button" title={meaning} onClick={() => onAdd(type)}>
            {t('Add: {type}', { type: t(type) })}
          </button>
        ))}
      </fieldset>
      {zones.some(({ type }) => type === 'include') && (
        <p class="quiet">{t('Changes outside of the include zones do not count.')}</p>
      )}
      {zone !== undefined && (
        <div class="zone-fields">
          <label>
            {t('Name')}
            <input
              name="zones.name"
              maxLength={128}
              value={zone.name ?? ''}
              placeholder={zone.id}
              onInput={(event) => onChange(zone.id, { name: event.currentTarget.value || null })}
            />
          </label>
          <label>
            {t('Type')}
            <select
              name="zones.type"
              value={zone.type}
              onChange={(event) => onChange(zone.id, { type: event.currentTarget.value as Zone['type'] })}
            >
              {TYPES.map(([type, meaning]) => (
                <option key={type} value={type}>
                  {t(type)}: {meaning}
                </option>
              ))}
            </select>
          </label>
          {zone.type === 'privacy' && (
            <p class="quiet">
              {t('Painted black with a margin of up to {n} pixels, as the drawing shows it.', { n: LOSSY_MARGIN })}
            </p>
          )}
          {zone.type === 'include' && (
            <PlaceName key={zone.id} zone={zone} onChange={(preposition) => onChange(zone.id, { preposition })} />
          )}
          <label>
            {t('Severity')}
            <select
              name="zones.severity"
              value={zone.severity ?? ''}
              onChange={(event) =>
                onChange(zone.id, { severity: (event.currentTarget.value || null) as Zone['severity'] })
              }
            >
              <option value="">{t('by the rules of the camera')}</option>
              <SeverityOptions />
            </select>
          </label>
          {LIMITS.map(([field, name, isRequired]) => (
            <Field
              key={field}
              setting={`zones.${field}`}
              name={name}
              type="number"
              step="any"
              min={0}
              max={1}
              required={isRequired}
              value={zone[field] ?? ''}
              onValue={(text) => {
                const value = text === '' ? null : Number(text);
                if (value !== null || !isRequired) onChange(zone.id, { [field]: value });
              }}
            />
          ))}
          <button type="button" onClick={() => onRemove(zone.id)}>
            {t('Remove this zone')}
          </button>
        </div>
      )}
    </section>
  );
}
