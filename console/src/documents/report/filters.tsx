/** The filters of a report, and how many of its entries fit. */
import type { ReportData } from '../../../../src/schemas/documents.js';
import type { Filter } from './filter.js';

interface FiltersProps {
  readonly data: ReportData;
  readonly filter: Filter;
  readonly setFilter: (filter: Filter) => void;
  readonly outlined: boolean;
  readonly setOutlined: (outlined: boolean) => void;
  readonly count: number;
}

export function Filters({ data, filter, setFilter, outlined, setOutlined, count }: FiltersProps) {
  const { visits, changes, cameras, days, texts } = data;
  const entries = [...visits, ...changes];
  const choices = [
    ['camera', cameras.map(({ camera }) => camera)],
    ['kind', [...new Set(entries.map(({ kind }) => kind))].sort()],
    ['day', days],
  ] as const;
  return (
    <search class="filters" aria-label={texts.filters}>
      {choices.map(
        ([name, values]) =>
          // One value, or none, offers no choice.
          values.length > 1 && (
            <label key={name}>
              {texts[name]}
              <select
                id={name}
                value={filter[name]}
                onInput={(event) => setFilter({ ...filter, [name]: event.currentTarget.value })}
              >
                <option value="">{texts.all}</option>
                {values.map((value) => (
                  <option key={value} value={value}>
                    {value}
                  </option>
                ))}
              </select>
            </label>
          ),
      )}
      <label class="search">
        {texts.text}
        <input
          id="text"
          type="search"
          autocomplete="off"
          onInput={(event) => setFilter({ ...filter, text: event.currentTarget.value })}
        />
      </label>
      <label class="check">
        <input
          id="outlines"
          type="checkbox"
          checked={outlined}
          onChange={(event) => setOutlined(event.currentTarget.checked)}
        />
        {texts.outlines}
      </label>
      {visits.length > 0 && (
        <label class="check">
          <input
            id="places"
            type="checkbox"
            checked={filter.places}
            onChange={(event) => setFilter({ ...filter, places: event.currentTarget.checked })}
          />
          {texts.places}
        </label>
      )}
      <output id="count">{texts.shown.replace('{n}', String(count)).replace('{all}', String(entries.length))}</output>
    </search>
  );
}
