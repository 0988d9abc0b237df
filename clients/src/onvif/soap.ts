/**
 * SOAP 1.2 of ONVIF cameras: requests with a login (WS-UsernameToken), and answers, which are hostile input: any host
 * of the network can send them.
 */
import { createHash, randomBytes } from 'node:crypto';
import { XMLParser } from 'fast-xml-parser';

const SOAP = 'http://www.w3.org/2003/05/soap-envelope';
const WSS = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-';
export const ONVIF = 'http://www.onvif.org/ver10';

export interface Login {
  readonly username: string;
  readonly password: string;
}

/** @param header and @param body XML with their namespaces */
export const envelope = (header: string, body: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?><s:Envelope xmlns:s="${SOAP}"><s:Header>${header}</s:Header>` +
  `<s:Body>${body}</s:Body></s:Envelope>`;

/** @returns the text as the content of an element */
export const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** @param at epoch ms by the clock of the camera, which refuses other times */
export function usernameToken({ username, password }: Login, at: number): string {
  const nonce = randomBytes(16);
  const created = new Date(at).toISOString();
  const digest = createHash('sha1').update(nonce).update(created).update(password).digest('base64');
  return (
    `<Security s:mustUnderstand="1" xmlns="${WSS}wssecurity-secext-1.0.xsd"><UsernameToken>` +
    `<Username>${escapeXml(username)}</Username>` +
    `<Password Type="${WSS}username-token-profile-1.0#PasswordDigest">${digest}</Password>` +
    `<Nonce EncodingType="${WSS}soap-message-security-1.0#Base64Binary">${nonce.toString('base64')}</Nonce>` +
    `<Created xmlns="${WSS}wssecurity-utility-1.0.xsd">${created}</Created></UsernameToken></Security>`
  );
}

const parser = new XMLParser({
  removeNSPrefix: true,
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  isArray: (name) => name === 'ProbeMatch' || name === 'Profiles',
});

/** @returns the envelope as an object, names without prefix; undefined if it cannot be read, or has a DTD */
export function readEnvelope(xml: string): unknown {
  // SOAP forbids a DTD, and entities that expand are declared in one.
  if (xml.includes('<!D') || xml.includes('<!E')) return undefined;
  try {
    return nodeAt(parser.parse(xml, true), 'Envelope');
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** @returns the node at a path of names; undefined if there is none */
export const nodeAt = (node: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (one, name) => (isObject(one) && Object.hasOwn(one, name) ? one[name as never] : undefined),
    node,
  );

export const listAt = (node: unknown, ...path: readonly string[]): readonly unknown[] => {
  const list = nodeAt(node, ...path);
  return Array.isArray(list) ? list : [];
};

/** @returns the text of the element at a path, '' if there is none */
export function textAt(node: unknown, ...path: readonly string[]): string {
  const element = nodeAt(node, ...path);
  const text = isObject(element) ? nodeAt(element, '#text') : element;
  return typeof text === 'string' ? text.trim() : '';
}
