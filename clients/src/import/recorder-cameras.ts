/** Cameras in the configuration of a Frigate or go2rtc, by names and addresses. Pure. */
import { parse } from 'yaml';
import { refused } from '../failure.js';
import { cameraIdOf } from '../set-up-camera.js';

/** A camera as the file names it: with the address that its pictures come from, or why there is none. */
export type RecorderCamera =
  | { readonly id: string; readonly name: string; readonly url: string; readonly login: Login }
  | { readonly id: string; readonly name: string; readonly reason: string };
type Login = { readonly username?: string; readonly password?: string };

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => (isObject(value) ? (value as Fields) : {});

/**
 * A camera of Frigate has the address of its input with the role `detect`, else of its first one; a stream of go2rtc
 * has its first address that is http(s) or rtsp(s). An input from the go2rtc of the same file (127.0.0.1:8554) stands
 * for that stream.
 *
 * @param variables values of placeholders such as {FRIGATE_RTSP_PASSWORD}
 * @throws Failure 'refused' if the text is no YAML or names no camera
 */
export function recorderCameras(text: string, variables: Readonly<Record<string, string | undefined>>) {
  const root = fieldsOf(parsed(text));
  const streams = fieldsOf(root.streams ?? fieldsOf(root.go2rtc).streams);
  const cameras = isObject(root.cameras) ? fieldsOf(root.cameras) : streams;
  if (Object.keys(cameras).length === 0) {
    throw refused('The file has no cameras, expected `cameras` of Frigate or `streams` of go2rtc');
  }
  return Object.entries(cameras).map(([name, value]): RecorderCamera => {
    const given = isObject(root.cameras) ? inputsOf(value) : listOf(value);
    const addresses = given.flatMap((address) => sourcesOf(address, streams));
    return { name, ...cameraOf(name, addresses, variables) };
  });
}

function parsed(text: string): unknown {
  try {
    return parse(text);
  } catch (cause) {
    throw refused(`The file is no YAML: ${(cause as Error).message.split('\n')[0]}`);
  }
}

const listOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((one): one is string => typeof one === 'string');

/** @returns the addresses of a camera of Frigate, those for detection first */
function inputsOf(camera: unknown): string[] {
  const { inputs } = fieldsOf(fieldsOf(camera).ffmpeg);
  const all = Array.isArray(inputs) ? inputs.map(fieldsOf) : [];
  const detects = ({ roles }: Fields) => Array.isArray(roles) && roles.includes('detect');
  return [...all.filter(detects), ...all.filter((input) => !detects(input))].flatMap(({ path }) => listOf(path));
}

const OWN_STREAM = /^rtsps?:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?\/([^/?#]+)/;
function sourcesOf(address: string, streams: Fields): string[] {
  const restreamed = streams[OWN_STREAM.exec(address)?.[1] ?? ''];
  return restreamed === undefined ? [address] : listOf(restreamed);
}

function cameraOf(name: string, addresses: readonly string[], variables: Readonly<Record<string, string | undefined>>) {
  const id = cameraIdOf(name);
  if (id === null) return { id: name, reason: 'its name has no letter or digit at its begin' };
  // go2rtc: "ffmpeg:ADDRESS#video=h264" is an address with options.
  const plain = addresses.map((one) => one.replace(/^ffmpeg:/, '').replace(/#.*$/, ''));
  const address = plain.find((one) => /^(?:https?|rtsps?):\/\//.test(one));
  if (address === undefined) return { id, reason: 'it has no address that is http(s) or rtsp(s)' };
  const missing: string[] = [];
  const filled = address.replace(/\{(FRIGATE_\w+)\}/g, (_slot, variable: string) => {
    if (variables[variable] === undefined) missing.push(variable);
    return encodeURIComponent(variables[variable] ?? '');
  });
  if (missing.length > 0) return { id, reason: `the environment lacks ${missing.join(', ')}` };
  if (!URL.canParse(filled)) return { id, reason: 'its address cannot be read' };
  const url = new URL(filled);
  const login = Object.fromEntries(
    (['username', 'password'] as const).flatMap((part) =>
      url[part] === '' ? [] : [[part, decodeURIComponent(url[part])]],
    ),
  );
  url.username = '';
  url.password = '';
  return { id, url: url.href, login };
}
