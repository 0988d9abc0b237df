/** The addresses of an ONVIF camera's pictures, asked from the camera itself by its login. */
import type { Clock } from '../clock.js';
import { refused } from '../failure.js';
import type { NonceCounts } from './digest.js';
import { escapeXml, type Login, listAt, ONVIF, textAt } from './soap.js';
import { callService, unlessRefused, withoutQuery } from './soap-call.js';

/** Width of the widest picture that a service compares. */
const USED_WIDTH = 1280;
const LONGEST_ADDRESS = 2048;
const TIMEOUT_MS = 15_000;

export interface CameraAddresses {
  /** of a picture by HTTP; null: the camera names none */
  readonly picture: string | null;
  /** of a stream by RTSP; null: the camera names none */
  readonly stream: string | null;
}

/**
 * The host of every request and of both addresses is that of `device`, whatever the camera says: an answer can lead
 * neither a request nor a login elsewhere.
 * @param device address of the camera's ONVIF service
 * @throws Failure with what the camera said
 */
export async function askAddresses(
  device: URL,
  login: Login | undefined,
  clock: Clock,
  timeoutMs = TIMEOUT_MS,
): Promise<CameraAddresses> {
  const signal = AbortSignal.timeout(timeoutMs);
  const counts: NonceCounts = new Map();
  const time = await callService(device, request('device', 'GetSystemDateAndTime'), {
    login: undefined,
    at: 0,
    signal,
    counts,
  }).catch(unlessRefused);
  const offset = clockOf(time) - clock();
  const asUser = (url: URL, body: string) =>
    callService(url, body, { login, at: clock() + (Number.isNaN(offset) ? 0 : offset), signal, counts });

  const category = '<t:Category>Media</t:Category>';
  const capabilities = await asUser(device, request('device', 'GetCapabilities', category));
  const service = textAt(capabilities, 'GetCapabilitiesResponse', 'Capabilities', 'Media', 'XAddr');
  if (!URL.canParse(service)) throw refused(`${withoutQuery(device)} names no service for its pictures`);
  const media = new URL(device);
  media.pathname = new URL(service).pathname;
  const token = profileOf(await asUser(media, request('media', 'GetProfiles')));
  if (token === undefined) throw refused(`${withoutQuery(media)} has no profile with a video`);

  const uriOf = async (name: string, parameters: string, schemes: RegExp) => {
    const answer = await asUser(media, request('media', name, parameters)).catch(unlessRefused);
    return atHostOf(device, textAt(answer, `${name}Response`, 'MediaUri', 'Uri'), schemes);
  };
  const profile = `<t:ProfileToken>${escapeXml(token)}</t:ProfileToken>`;
  return {
    picture: await uriOf('GetSnapshotUri', profile, /^https?:$/),
    stream: await uriOf('GetStreamUri', STREAM_SETUP + profile, /^rtsps?:$/),
  };
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
