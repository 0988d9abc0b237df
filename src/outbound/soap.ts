/**
 * SOAP 1.2 of ONVIF cameras: requests with a login (WS-UsernameToken), and answers, which are hostile input: anybody in
 * the network can send them.
 */
import { createHash, randomBytes } from 'node:crypto';
import { escapeHtml } from '../base/escape-html.js';
import { isObject } from '../base/is-object.js';
import type { Login } from '../secrets/login.js';

const SOAP = 'http://www.w3.org/2003/05/soap-envelope';
const WSS = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-';
export const ONVIF = 'http://www.onvif.org/ver10';

/** @param header and @param body XML with their namespaces */
export const envelope = (header: string, body: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?><s:Envelope xmlns:s="${SOAP}"><s:Header>${header}</s:Header>` +
  `<s:Body>${body}</s:Body></s:Envelope>`;

/** @param at epoch ms by the clock of the camera, which refuses other times */
export function usernameToken({ username, password }: Login, at: number): string {
  const nonce = randomBytes(16);
  const created = new Date(at).toISOString();
  const digest = createHash('sha1').update(nonce).update(created).update(password).digest('base64');
  return (
    `<Security s:mustUnderstand="1" xmlns="${WSS}wssecurity-secext-1.0.xsd"><UsernameToken>` +
    `<Username>${escapeHtml(username)}</Username>` +
    `<Password Type="${WSS}username-token-profile-1.0#PasswordDigest">${digest}</Password>` +
    `<Nonce EncodingType="${WSS}soap-message-security-1.0#Base64Binary">${nonce.toString('base64')}</Nonce>` +
    `<Created xmlns="${WSS}wssecurity-utility-1.0.xsd">${created}</Created></UsernameToken></Security>`
  );
}

/** @returns the envelope as an object, names without prefix; undefined if it cannot be read, or has a DTD */
export async function readEnvelope(xml: string): Promise<unknown> {
  // SOAP forbids a DTD, and entities that expand are declared in one.
  if (xml.includes('<!D') || xml.includes('<!E')) return undefined;
  const { XMLParser } = await import('fast-xml-parser');
  const parser = new XMLParser({
    ...{ removeNSPrefix: true, ignoreAttributes: false, attributeNamePrefix: '@', parseTagValue: false },
    isArray: (name) => name === 'ProbeMatch' || name === 'Profiles',
  });
  try {
    return nodeAt(parser.parse(xml, true), 'Envelope');
  } catch {
    return undefined;
  }
}

/** @returns the node at a path of names; undefined if there is none */
export const nodeAt = (node: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (one, name) => (isObject(one) && Object.hasOwn(one, name) ? one[name as never] : undefined),
    node,
  );

export const listAt = (node: unknown, ...path: readonly string[]): readonly unknown[] => {
  const found = nodeAt(node, ...path);
  return Array.isArray(found) ? found : [];
};

/** @returns the text of the element at a path, '' if there is none */
export function textAt(node: unknown, ...path: readonly string[]): string {
  const found = nodeAt(node, ...path);
  const text = isObject(found) ? nodeAt(found, '#text') : found;
  return typeof text === 'string' ? text.trim() : '';
}
