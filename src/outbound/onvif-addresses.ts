/** The addresses of an ONVIF camera's pictures, asked from the camera itself by its login. */
import { startDeadline } from '../base/deadline.js';
import { urlFailed } from '../base/errors.js';
import { escapeHtml } from '../base/escape-html.js';
import { originAndPath } from '../base/redact-url.js';
import type { Login } from '../secrets/login.js';
import { type AllowList, checkUrlSyntax } from './address.js';
import { createGuardedAgent } from './guarded-agent.js';
import { listAt, ONVIF, textAt } from './soap.js';
import { createSoapCall, unlessRefused } from './soap-call.js';
import { asUrlError } from './url-error.js';

/** Width of the widest picture that the service compares (frames/decode.ts). */
const USED_WIDTH = 1280;
const LONGEST_ADDRESS = 2048;
const field = 'url';

export interface CameraAddresses {
  /** of a picture by HTTP; null: the camera names none */
  readonly picture: string | null;
  /** of a stream by RTSP; null: the camera names none */
  readonly stream: string | null;
}

export interface CameraAsker {
  /**
   * The host of every request and of both addresses is that of `url`, whatever the camera says: an answer can neither
   * lead a request nor a login elsewhere.
   * @param url of the camera's ONVIF service
   * @throws ScenedeltaError url-refused, url-failed (with the status and what the camera said), url-unavailable
   */
  ask(url: string, login?: Login): Promise<CameraAddresses>;
  close(): void;
}

export function createCameraAsker(options: { allow: AllowList; timeoutMs: number; now: () => number }): CameraAsker {
  const { allow, timeoutMs, now } = options;
  const agent = createGuardedAgent({ allow, timeoutMs });
  const call = createSoapCall(agent, now);

  const ask: CameraAsker['ask'] = async (text, login) => {
    const device = checkUrlSyntax(text, { allow, field });
    const deadline = startDeadline(timeoutMs);
    const { signal } = deadline;
    try {
      const time = await call(device, request('device', 'GetSystemDateAndTime'), {
        login: undefined,
        at: 0,
        signal,
      }).catch(unlessRefused);
      const offset = clockOf(time) - now();
      const asUser = (url: URL, body: string) =>
        call(url, body, { login, at: now() + (Number.isNaN(offset) ? 0 : offset), signal });

      const category = '<t:Category>Media</t:Category>';
      const capabilities = await asUser(device, request('device', 'GetCapabilities', category));
      const service = textAt(capabilities, 'GetCapabilitiesResponse', 'Capabilities', 'Media', 'XAddr');
      if (!URL.canParse(service)) throw urlFailed(`${originAndPath(device)} names no service for its pictures`, field);
      const media = new URL(device);
      media.pathname = new URL(service).pathname;
      const token = profileOf(await asUser(media, request('media', 'GetProfiles')));
      if (token === undefined) throw urlFailed(`${originAndPath(media)} has no profile with a video`, field);

      const uriOf = async (name: string, parameters: string, schemes: RegExp) => {
        const answer = await asUser(media, request('media', name, parameters)).catch(unlessRefused);
        return atHostOf(device, textAt(answer, `${name}Response`, 'MediaUri', 'Uri'), schemes);
      };
      const profile = `<t:ProfileToken>${escapeHtml(token)}</t:ProfileToken>`;
      return {
        picture: await uriOf('GetSnapshotUri', profile, /^https?:$/),
        stream: await uriOf('GetStreamUri', STREAM_SETUP + profile, /^rtsps?:$/),
      };
    } catch (thrown) {
      throw asUrlError(thrown, originAndPath(device), { field, timeoutMs, timedOut: deadline.expired });
    } finally {
      deadline.end();
    }
  };
  return { ask, close: () => agent.close() };
}

const request = (service: 'device' | 'media', name: string, parameters = ''): string =>
  `<t:${name} xmlns:t="${ONVIF}/${service}/wsdl">${parameters}</t:${name}>`;
const STREAM_SETUP =
  `<t:StreamSetup xmlns:o="${ONVIF}/schema"><o:Stream>RTP-Unicast</o:Stream>` +
  '<o:Transport><o:Protocol>RTSP</o:Protocol></o:Transport></t:StreamSetup>';

/** @returns epoch ms by the clock of the camera; NaN if it does not say */
function clockOf(answer: unknown): number {
  const path = ['GetSystemDateAndTimeResponse', 'SystemDateAndTime', 'UTCDateTime'];
  const [year = Number.NaN, month = 0, ...rest] = [
    ...['Year', 'Month', 'Day'].map((name) => Number.parseInt(textAt(answer, ...path, 'Date', name), 10)),
    ...['Hour', 'Minute', 'Second'].map((name) => Number.parseInt(textAt(answer, ...path, 'Time', name), 10)),
  ];
  return Date.UTC(year, month - 1, ...rest);
}

/** @returns the token of the smallest profile that is wide enough, else of the widest */
function profileOf(answer: unknown): string | undefined {
  const profiles = listAt(answer, 'GetProfilesResponse', 'Profiles')
    .map((one) => ({
      token: textAt(one, '@token'),
      width: Number.parseInt(textAt(one, 'VideoEncoderConfiguration', 'Resolution', 'Width'), 10),
    }))
    .filter(({ token, width }) => token !== '' && width > 0)
    .sort((one, other) => one.width - other.width);
  return (profiles.find(({ width }) => width >= USED_WIDTH) ?? profiles.at(-1))?.token;
}

/** A camera behind a router names addresses of another network. @returns null if the text is no such address */
function atHostOf(device: URL, text: string, schemes: RegExp): string | null {
  if (text.length > LONGEST_ADDRESS || !URL.canParse(text)) return null;
  const url = new URL(text);
  if (!schemes.test(url.protocol)) return null;
  url.hostname = device.hostname;
  url.username = '';
  url.password = '';
  return url.href;
}
