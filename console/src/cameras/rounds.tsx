/** Rounds: two times of a day whose pictures are compared, in the time zone of the browser unless they have one. */
import type { Camera } from '../api/types.js';
import { t } from '../texts/texts.js';
import { DAYS, Days } from './windows.js';

export type Round = Camera['rounds'][number];

interface Props {
  readonly rounds: readonly Round[];
  readonly onRounds: (rounds: readonly Round[]) => void;
}

export function Rounds({ rounds, onRounds }: Props) {
  const put = (i: number, part: Partial<Round>) => onRounds(rounds.with(i, { ...(rounds[i] as Round), ...part }));
  const add = () => {
    const tz = Intl.DateTimeFormat().resolvedOptions().timeZone;
    const name = rounds.length === 0 ? 'morning' : `round ${rounds.length + 1}`;
    onRounds([...rounds, { name, at: '07:00', with: '16:50 yesterday', days: [...DAYS], tz }]);
  };
  return (
    <>
      <h2>{t('Rounds')}</h2>
      <p class="quiet">{t('Each day the picture at one time is compared with that of another one.')}</p>
      {rounds.map(({ name, at, with: earlier, days, tz }, i) => (
        <fieldset key={i} class="window">
          <legend>{name}</legend>
          <Days setting="rounds.days" days={days} onDays={(chosen) => put(i, { days: chosen })} />
          <div class="rule-line">
            <label>
              {t('Name')}
              <input
                name="rounds.name"
                maxLength={64}
                value={name}
                onInput={(event) => put(i, { name: event.currentTarget.value })}
              />
            </label>
            <label>
              {t('Picture at')}
              <input
                name="rounds.at"
                type="time"
                value={at}
                onInput={(event) => put(i, { at: event.currentTarget.value })}
              />
            </label>
            <label>
              {t('compared with')}
              <input
                name="rounds.with"
                value={earlier}
                placeholder="16:50 yesterday"
                onInput={(event) => put(i, { with: event.currentTarget.value })}
              />
            </label>
            <label>
              {t('Time zone')}
              <input
                name="rounds.tz"
                maxLength={64}
                value={tz}
                onInput={(event) => put(i, { tz: event.currentTarget.value })}
              />
            </label>
            <button type="button" onClick={() => onRounds(rounds.toSpliced(i, 1))}>
              {t('Remove this round')}
            </button>
          </div>
        </fieldset>
      ))}
      <button type="button" onClick={add}>
        {t('Add a round')}
      </button>
    </>
  );
}
