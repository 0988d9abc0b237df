/** A button whose action cannot be undone: it acts when it is pressed a second time. */
import { useSignal } from '@preact/signals';

interface Props {
  readonly name: string;
  readonly sure: string;
  readonly onSure: () => void;
}

export function SureButton({ name, sure, onSure }: Props) {
  const isSure = useSignal(false);
  return (
    <button
      type="button"
      onClick={() => {
        if (isSure.value) onSure();
        isSure.value = !isSure.value;
      }}
      onBlur={() => {
        isSure.value = false;
      }}
    >
      {isSure.value ? sure : name}
    </button>
  );
}
