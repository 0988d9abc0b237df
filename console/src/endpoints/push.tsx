/** Notifications of this browser: an endpoint of the format web-push. */
import { useSignal } from '@preact/signals';
import { messageOf } from '../api/client.js';
import { session } from '../session.js';
import { t } from '../texts/texts.js';

interface Subscribed {
  readonly url: string;
  readonly authorization: string;
}

interface Props {
  /** Stores the subscription as an endpoint. */
  readonly onSubscribed: (subscription: Subscribed) => Promise<unknown>;
}

export function PushButton({ onSubscribed }: Props) {
  const fault = useSignal('');
  const isBusy = useSignal(false);
  // Browsers have it on https and loopback alone, those of Apple in installed pages.
  if (!('PushManager' in globalThis) || session.value == null) return null;
  const key = session.value.push_key;
  const subscribe = async () => {
    isBusy.value = true;
    fault.value = '';
    try {
      await onSubscribed(await subscribed(key));
    } catch (error) {
      fault.value = messageOf(error);
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <>
      <button type="button" disabled={isBusy.value} onClick={subscribe}>
        {t('Notify this browser')}
      </button>
      <p role="alert" class="fault clip">
        {fault.value}
      </p>
    </>
  );
}

/** @throws Error if the person or the browser refuses */
async function subscribed(key: string): Promise<Subscribed> {
  if ((await Notification.requestPermission()) !== 'granted') {
    throw new Error(t('The browser does not allow notifications of this page.'));
  }
  const { pushManager } = await navigator.serviceWorker.ready;
  const subscription = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  const { endpoint = '', keys = {} } = subscription.toJSON();
  return { url: endpoint, authorization: `${keys.p256dh}:${keys.auth}` };
}
