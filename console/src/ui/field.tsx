/** A labelled input. */
import type { InputHTMLAttributes } from 'preact';

interface Props extends Omit<InputHTMLAttributes<HTMLInputElement>, 'onInput' | 'name'> {
  readonly name: string;
  readonly onValue: (value: string) => void;
}

export const Field = ({ name, onValue, ...input }: Props) => (
  <label>
    {name}
    <input autocomplete="off" {...input} onInput={(event) => onValue(event.currentTarget.value)} />
  </label>
);
