/** The source of a camera's pictures: fields of its snapshots, and a test that shows one picture. */
import { type Signal, useSignal } from '@preact/signals';
import { api, messageOf, ok } from '../api/client.js';
import type { Camera, SnapshotTest } from '../api/types.js';
import { t, tx } from '../texts/texts.js';
import { Field } from '../ui/field.js';
import { shownSize, shownTime } from '../ui/format.js';

const SOURCES = [
  ['posted', t('A client posts its frames'), ''],
  ['http', t('HTTP: a picture, or an MJPEG stream'), 'http://192.168.1.20/snapshot.jpg'],
  ['rtsp', t('RTSP: a video stream'), 'rtsp://192.168.1.20:554/stream1'],
] as const;
const example = (text: string) => ({ example: <code class="clip">{text}</code> });
/** Hints at the address of each kind of source. */
const HINTS = {
  posted: (id: string) => [
    tx('A program: {example}, by a key with the scope compare.', example(`POST /v1/cameras/${id}/frames`)),
    tx(
      'A folder that the camera fills by FTP: {example} posts its pictures.',
      example(`scenedelta watch /srv/ftp/${id} --camera ${id}`),
    ),
  ],
  http: () => [
    tx(
      'A picture: the address at which a browser shows one picture, e.g. {example}.',
      example('http://192.168.1.20/snapshot.jpg'),
    ),
    tx(
      'MJPEG: the address of the stream, of which one picture is read, e.g. {example}.',
      example('http://192.168.1.20/mjpg/video.mjpg'),
    ),
  ],
  rtsp: () => [
    tx(
      'RTSP: the address of the stream, e.g. {example}; the small one is enough. It needs ffmpeg.',
      example('rtsp://192.168.1.20:554/stream2'),
    ),
  ],
} as const;
const DEFAULT_INTERVAL_S = '10';

/** Texts of the fields, as they are edited. */
export interface SourceDraft {
  readonly from: (typeof SOURCES)[number][0];
  readonly url: string;
  readonly intervalS: string;
  readonly username: string;
  readonly password: string;
  readonly noLogin: boolean;
  readonly certificate: string;
}

export function sourceOf(snapshot: Camera['snapshot']): SourceDraft {
  const { url = '', interval_s = DEFAULT_INTERVAL_S, certificate } = snapshot ?? {};
  const from = snapshot === null ? 'posted' : url.startsWith('rtsp') ? 'rtsp' : 'http';
  const shown = { url, intervalS: String(interval_s), certificate: certificate ?? '' };
  return { from, ...shown, username: '', password: '', noLogin: false };
}

/** @returns the setting `snapshot`; without a login in it, the stored one stays */
export function snapshotOf({ from, url, intervalS, certificate, ...draft }: SourceDraft) {
  if (from === 'posted') return null;
  const stated = { url: url.trim(), interval_s: Number(intervalS), certificate: certificate.trim() || null };
  return { ...stated, ...loginOf(draft) };
}

function loginOf({ username, password, noLogin }: Pick<SourceDraft, 'username' | 'password' | 'noLogin'>) {
  if (noLogin) return { username: '' };
  return { ...(username === '' ? {} : { username }), ...(password === '' ? {} : { password }) };
}

interface Props {
  /** of the camera; of a new one it may be empty */
  readonly id: string;
  readonly draft: Signal<SourceDraft>;
  /** whether a login is stored */
  readonly hasLogin: boolean;
}

export function SourceFields({ id, draft, hasLogin }: Props) {
  const put = (part: Partial<SourceDraft>) => {
    draft.value = { ...draft.value, ...part };
  };
  const { from, url, intervalS, username, password, noLogin, certificate } = draft.value;
  const stays = hasLogin ? t('empty: the stored one stays') : t('empty: none');
  return (
    <section aria-label={t('Pictures')} class="source">
      <h2>{t('Pictures')}</h2>
      <p class="quiet">
        {tx(
          'On a machine in the network of the cameras, {example} finds those that speak ONVIF, and sets them up.',
          example('scenedelta onvif --add'),
        )}
      </p>
      <label>
        {t('Come from')}
        <select value={from} onChange={(event) => put({ from: event.currentTarget.value as SourceDraft['from'] })}>
          {SOURCES.map(([name, meaning]) => (
            <option key={name} value={name}>
              {meaning}
            </option>
          ))}
        </select>
      </label>
      {HINTS[from](id || '…').map((hint, i) => (
        <p key={i} class="quiet">
          {hint}
        </p>
      ))}
      {from !== 'posted' && (
        <>
          <Field
            setting="snapshot.url"
            name={t('Address')}
            required
            maxLength={2048}
            inputMode="url"
            placeholder={SOURCES.find(([name]) => name === from)?.[2] ?? ''}
            value={url}
            onValue={(value) => put({ url: value })}
          />
          <Field
            setting="snapshot.interval_s"
            name={t('Seconds between two pictures')}
            type="number"
            required
            min={1}
            max={86_400}
            value={intervalS}
            onValue={(value) => put({ intervalS: value })}
          />
          <Field
            setting="snapshot.username"
            name={`${t('User name')} (${stays})`}
            maxLength={256}
            value={username}
            onValue={(value) => put({ username: value })}
          />
          <Field
            setting="snapshot.password"
            name={`${t('Password')} (${stays})`}
            type="password"
            maxLength={256}
            autocomplete="new-password"
            value={password}
            onValue={(value) => put({ password: value })}
          />
          <Field
            setting="snapshot.certificate"
            name={t('Its own certificate: the fingerprint, or PEM')}
            maxLength={16_384}
            value={certificate}
            onValue={(value) => put({ certificate: value })}
          />
          {hasLogin && (
            <label class="check">
              <input
                type="checkbox"
                checked={noLogin}
                onChange={(event) => put({ noLogin: event.currentTarget.checked })}
              />
              {t('Send no login any more')}
            </label>
          )}
          <Test id={id} draft={draft.value} />
        </>
      )}
    </section>
  );
}

/** The id of a camera that has none yet. */
const NEW = 'new-camera';

function Test({ id, draft }: { readonly id: string; readonly draft: SourceDraft }) {
  const found = useSignal<SnapshotTest | null>(null);
  const fault = useSignal('');
  const isBusy = useSignal(false);
  const run = async () => {
    isBusy.value = true;
    found.value = null;
    fault.value = '';
    try {
      const body = { url: draft.url.trim(), certificate: draft.certificate.trim() || null, ...loginOf(draft) };
      const path = { id: id || NEW };
      found.value = await ok(api.POST('/v1/cameras/{id}/test-snapshot', { params: { path }, body }));
    } catch (error) {
      fault.value = messageOf(error);
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <>
      <div class="rule-line">
        <button type="button" disabled={isBusy.value || draft.url.trim() === ''} onClick={run}>
          {t('Test')}
        </button>
        <span role="status" class="quiet">
          {isBusy.value && t('Waiting for the camera …')}
          {found.value && pictureLine(found.value)}
        </span>
      </div>
      <p role="alert" class="fault clip">
        {fault.value}
      </p>
      {fault.value.includes('OUTBOUND_ALLOW') && <AllowHelp url={draft.url} />}
      {found.value && (
        <img src={`data:image/jpeg;base64,${found.value.picture}`} alt={t('As the camera sees it now')} />
      )}
    </>
  );
}

const IPV4 = /\/\/(?:[^/@]*@)?(\d+\.\d+\.\d+)\.\d+/;

/** The service does not reach its operator's network by itself: callers would otherwise read it through the service. */
const AllowHelp = ({ url }: { readonly url: string }) => (
  <p class="quiet">
    {tx(
      'The service requests addresses of its own network only if its setting OUTBOUND_ALLOW names them. ' +
        'Start it with {command}, or with the range of your cameras.',
      { command: <code class="clip">OUTBOUND_ALLOW={IPV4.exec(url)?.[1] ?? '192.168.1'}.0/24 npm run up</code> },
    )}
  </p>
);

const pictureLine = ({ width, height, bytes, at }: SnapshotTest): string =>
  `${width} × ${height} px, ${shownSize(bytes)}, ${shownTime(at)}`;
