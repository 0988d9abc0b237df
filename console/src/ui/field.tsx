/** A labelled input. */
import type { InputHTMLAttributes } from 'preact';

interface Props extends Omit<InputHTMLAttributes<HTMLInputElement>, 'onInput' | 'name'> {
  readonly name: string;
  /** path of the setting that it edits, e.g. 'alerts.persist_s' */
  readonly setting?: string;
  readonly onValue: (value: string) => void;
}

export const Field = ({ name, setting, onValue, ...input }: Props) => (
  <label>
    {name}
    <input
      autocomplete="off"
      {...(setting === undefined ? {} : { name: setting })}
      {...input}
      onInput={(event) => onValue(event.currentTarget.value)}
    />
  </label>
);
