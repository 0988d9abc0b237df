/** The button that signs in another device, and the window that it opens. */
import { useState } from 'preact/hooks';
import { session } from '../session.js';
import { t } from '../texts/texts.js';
import { lazyView } from '../ui/lazy-view.js';

const DeviceLink = lazyView(async () => (await import('./link.js')).DeviceLink);

/** Nothing if the session may make no link: without keys, and on a device that a link has signed in. */
export function DeviceButton() {
  const [isOpen, setOpen] = useState(false);
  if (session.value?.may_link !== true) return null;
  return (
    <>
      <button type="button" class="plain device-button" onClick={() => setOpen(true)}>
        {t('Telephone')}
      </button>
      {isOpen && <DeviceLink onClose={() => setOpen(false)} />}
    </>
  );
}
