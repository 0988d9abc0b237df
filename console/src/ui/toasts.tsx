/** Short messages at the foot of the page, each possibly with one action. */
import { signal } from '@preact/signals';

export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly action?: { readonly name: string; readonly run: () => void };
}

const SHOWN_MS = 6_000;
const toasts = signal<readonly Toast[]>([]);
let count = 0;

/** @param forMs time for which it is shown. @returns a function that removes it */
export function toast(text: string, action?: Toast['action'], forMs = SHOWN_MS): () => void {
  const id = ++count;
  const remove = () => {
    toasts.value = toasts.value.filter((one) => one.id !== id);
  };
  toasts.value = [...toasts.value.slice(-1), { id, text, ...(action === undefined ? {} : { action }) }];
  setTimeout(remove, forMs);
  return remove;
}

export function Toasts() {
  return (
    <div class="toasts" role="status">
      {toasts.value.map(({ id, text, action }) => (
        <p key={id} class="toast">
          <span>{text}</span>
          {action && (
            <button type="button" onClick={action.run}>
              {action.name}
            </button>
          )}
        </p>
      ))}
    </div>
  );
}
