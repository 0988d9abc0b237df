/** The zones of a camera as a list, and the fields of the selected one. */
import { LOSSY_MARGIN } from '../../../src/cameras/privacy-margin.js';
import type { Zone } from '../api/types.js';
import { PlaceName } from './place-name.js';
import { SeverityOptions } from './severity-options.js';

const TYPES = [
  ['include', 'only changes in such zones count'],
  ['ignore', 'changes in it do not count'],
  ['privacy', 'black in every frame that is stored, and 2 % of the frame beyond its outline'],
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
    <section aria-label="Zones">
      <h2>Zones</h2>
      <ul class="zone-list">
        {zones.map(({ id, name, type }) => (
          <li key={id}>
            <button type="button" aria-pressed={id === selected} onClick={() => onSelect(id)}>
              <span class="clip">{name ?? id}</span> <span class="quiet">{type}</span>
            </button>
          </li>
        ))}
      </ul>
      <fieldset class="zone-add" aria-label="Add a zone">
        {TYPES.map(([type, meaning]) => (
          <button key={type} type="button" title={meaning} onClick={() => onAdd(type)}>
            Add: {type}
          </button>
        ))}
      </fieldset>
      {zones.some(({ type }) => type === 'include') && (
        <p class="quiet">Changes outside of the include zones do not count.</p>
      )}
      {zone !== undefined && (
        <div class="zone-fields">
          <label>
            Name
            <input
              maxLength={128}
              value={zone.name ?? ''}
              placeholder={zone.id}
              onInput={(event) => onChange(zone.id, { name: event.currentTarget.value || null })}
            />
          </label>
          <label>
            Type
            <select
              value={zone.type}
              onChange={(event) => onChange(zone.id, { type: event.currentTarget.value as Zone['type'] })}
            >
              {TYPES.map(([type, meaning]) => (
                <option key={type} value={type}>
                  {type}: {meaning}
                </option>
              ))}
            </select>
          </label>
          {zone.type === 'privacy' && (
            <p class="quiet">Painted black with a margin of up to {LOSSY_MARGIN} pixels, as the drawing shows it.</p>
          )}
          {zone.type === 'include' && (
            <PlaceName key={zone.id} zone={zone} onChange={(preposition) => onChange(zone.id, { preposition })} />
          )}
          <label>
            Severity
            <select
              value={zone.severity ?? ''}
              onChange={(event) =>
                onChange(zone.id, { severity: (event.currentTarget.value || null) as Zone['severity'] })
              }
            >
              <option value="">by the rules of the camera</option>
              <SeverityOptions />
            </select>
          </label>
          <button type="button" onClick={() => onRemove(zone.id)}>
            Remove this zone
          </button>
        </div>
      )}
    </section>
  );
}
