/** A link that signs in another device once, as a QR code and as text. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { encode } from 'uqr';
import { systemClock } from '../../../src/base/clock.js';
import { api, messageOf, ok } from '../api/client.js';
import { ROOT } from '../api/root.js';
import { t } from '../texts/texts.js';
import { CopyLink } from '../ui/copy-link.js';
import { shownTime } from '../ui/format.js';

interface SignInLink {
  readonly url: string;
  /** epoch ms */
  readonly until: number;
}

async function makeLink(): Promise<SignInLink> {
  const { token, expires_at } = await ok(api.POST('/v1/session/token'));
  return { url: `${location.origin}${ROOT}/#sign-in=${token}`, until: Date.parse(expires_at) };
}

export function DeviceLink({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [link, setLink] = useState<SignInLink | null>(null);
  const [fault, setFault] = useState('');
  const renew = () => makeLink().then(setLink, (error: unknown) => setFault(messageOf(error)));
  useEffect(() => {
    dialog.current?.showModal();
    void renew();
  }, []);
  // A code that has ended would lead to a refusal.
  useEffect(() => {
    if (link === null) return;
    const timer = setTimeout(() => setLink(null), link.until - systemClock());
    return () => clearTimeout(timer);
  }, [link]);
  return (
    <dialog ref={dialog} class="device" aria-labelledby="device-title" onClose={onClose}>
      <h2 id="device-title">{t('Sign in a telephone')}</h2>
      <p role="alert" class="fault">
        {fault}
      </p>
      {link === null ? (
        <button type="button" onClick={renew}>
          {t('New code')}
        </button>
      ) : (
        <>
          <Code text={link.url} />
          <p>
            {t('Scan it with the camera of the telephone. It works once, until {time}.', {
              time: shownTime(new Date(link.until).toISOString()),
            })}
          </p>
          {isLocal(location.hostname) && (
            <p class="notice">
              {t(
                'This page is open at {host}, which leads a telephone to itself. Open it at an address that it reaches.',
                {
                  host: location.hostname,
                },
              )}
            </p>
          )}
          <CopyLink name={t('Link that signs in')} url={link.url} />
        </>
      )}
      <button type="button" onClick={() => dialog.current?.close()}>
        {t('Close')}
      </button>
    </dialog>
  );
}

const isLocal = (host: string): boolean => host === 'localhost' || host === '[::1]' || host.startsWith('127.');

/** Black on white whatever the colours of the page are, as readers expect. */
function Code({ text }: { readonly text: string }) {
  const { data, size } = encode(text, { ecc: 'M', border: 4 });
  const squares = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <svg class="code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={t('QR code')} shape-rendering="crispEdges">
      <path fill="#fff" d={`M0 0h${size}v${size}H0z`} />
      <path fill="#000" d={squares.join('')} />
    </svg>
  );
}
