/** Search for cameras in the network of the service; a chosen one gives the addresses of its pictures. */
import { useSignal } from '@preact/signals';
import { api, messageOf, ok } from '../api/client.js';
import type { FoundCamera } from '../api/types.js';
import { t, tx } from '../texts/texts.js';

interface Props {
  /** of the camera, which is asked with it */
  readonly login: { readonly username: string; readonly password: string };
  readonly prefersStream: boolean;
  /** Takes an address for the pictures; of a camera that names none the beginning of one. */
  readonly onAddress: (url: string) => void;
}

export function Discovery({ login, prefersStream, onAddress }: Props) {
  const found = useSignal<readonly FoundCamera[] | null>(null);
  const fault = useSignal('');
  const said = useSignal('');
  const isBusy = useSignal(false);
  const during = async (waiting: string, work: () => Promise<string>) => {
    isBusy.value = true;
    fault.value = '';
    said.value = waiting;
    try {
      said.value = await work();
    } catch (error) {
      said.value = '';
      fault.value = messageOf(error);
    } finally {
      isBusy.value = false;
    }
  };
  const search = () =>
    during(t('Searching …'), async () => {
      found.value = null;
      found.value = (await ok(api.POST('/v1/discovery'))).items;
      return t('{n} camera found|{n} cameras found', { n: found.value.length });
    });
  const choose = (url: string) =>
    during(t('Waiting for the camera …'), async () => {
      onAddress(`${new URL(url).origin}/`);
      const body = { url, ...(login.username === '' || login.password === '' ? {} : login) };
      const { picture, stream } = await ok(api.POST('/v1/discovery/addresses', { body }));
      const address = prefersStream ? (stream ?? picture) : (picture ?? stream);
      if (address === null) return t('The camera names no address of its pictures.');
      onAddress(address);
      return t('The address is filled in. Try it with Test.');
    });
  const refused = found.value?.find(({ addresses }) => addresses.length === 0)?.refused[0];
  return (
    <div class="discovery">
      <div class="rule-line">
        <button type="button" disabled={isBusy.value} onClick={search}>
          {t('Find cameras in the network')}
        </button>
        <span role="status" class="quiet">
          {said.value}
        </span>
      </div>
      <p role="alert" class="fault clip">
        {fault.value}
      </p>
      {/ answered 40[01]/.test(fault.value) && (
        <p class="quiet">{t('Enter the user name and the password of the camera below, and choose it again.')}</p>
      )}
      {fault.value.includes('ONVIF_DISCOVERY') && (
        <p class="quiet">
          {tx(
            'The service searches its network only if its operator allows it. Start it with {command}, with the range of ' +
              'your cameras.',
            { command: <code class="clip">ONVIF_DISCOVERY=on OUTBOUND_ALLOW=192.168.1.0/24 npm run up</code> },
          )}
        </p>
      )}
      {found.value !== null && found.value.length > 0 && (
        <ul aria-label={t('Cameras in the network')}>
          {found.value.map((camera) => (
            <li key={`${camera.name} ${camera.addresses} ${camera.refused}`} class="rule-line">
              <Choice camera={camera} isBusy={isBusy.value} onChoose={choose} />
            </li>
          ))}
        </ul>
      )}
      {(fault.value.includes('OUTBOUND_ALLOW') || refused !== undefined) &&
        !fault.value.includes('ONVIF_DISCOVERY') && <AllowHelp url={`//${refused ?? ''}`} />}
    </div>
  );
}

function Choice(props: { camera: FoundCamera; isBusy: boolean; onChoose: (url: string) => void }) {
  const { camera, isBusy, onChoose } = props;
  const [url] = camera.addresses;
  const host = url === undefined ? (camera.refused[0] ?? '') : new URL(url).host;
  const facts = [camera.hardware, camera.location, host].filter((fact) => fact !== '').join(', ');
  return (
    <>
      <button type="button" disabled={isBusy || url === undefined} onClick={() => url !== undefined && onChoose(url)}>
        {camera.name || host}
      </button>
      <span class="quiet clip">{url === undefined ? t('{facts}: not in OUTBOUND_ALLOW', { facts }) : facts}</span>
    </>
  );
}

const IPV4 = /\/\/(?:[^/@]*@)?(\d+\.\d+\.\d+)\.\d+/;

/** The service does not reach its operator's network by itself: callers would otherwise read it through the service. */
export const AllowHelp = ({ url }: { readonly url: string }) => (
  <p class="quiet">
    {tx(
      'The service requests addresses of its own network only if its setting OUTBOUND_ALLOW names them. ' +
        'Start it with {command}, or with the range of your cameras.',
      { command: <code class="clip">OUTBOUND_ALLOW={IPV4.exec(url)?.[1] ?? '192.168.1'}.0/24 npm run up</code> },
    )}
  </p>
);
