/** Mail to a server that an administrator names, over a connection of the guarded agent. */
import { type ConnectionOptions, checkServerIdentity } from 'node:tls';
import { createTransport } from 'nodemailer';
import { startDeadline } from '../base/deadline.js';
import type { Mail } from '../base/mail.js';
import { readCertificate } from '../process/connect.js';
import { bareHost } from '../process/proxies.js';
import { type AllowList, checkUrlSyntax, targetOf } from './address.js';
import type { GuardedAgent } from './guarded-agent.js';
import type { PostOutcome } from './post.js';
import { asUrlError } from './url-error.js';

export type Mailer = (
  url: string,
  mail: Mail,
  options: {
    readonly password: string | null;
    readonly signal?: AbortSignal | undefined;
    /** certificate that the server may have (process/connect.ts) */
    readonly certificate?: string | null | undefined;
  },
) => Promise<PostOutcome>;

const FIELD = 'url';

/**
 * smtps has TLS from the start. smtp changes to TLS if the server offers it; with a password it must, so that the
 * password is never sent in the clear.
 * @returns sends a mail; the outcome has the reply code as its status, and the words of a refusal
 */
export function createMailer({
  agent,
  allow,
  timeoutMs,
}: {
  agent: GuardedAgent;
  allow: AllowList;
  timeoutMs: number;
}): Mailer {
  return async (text, mail, { password, signal, certificate }) => {
    const deadline = startDeadline(timeoutMs, signal);
    const outcome = { status: null, error: null, retryAfterMs: null, permanent: false } satisfies PostOutcome;
    try {
      const url = checkUrlSyntax(text, { allow, field: FIELD, mail: true });
      const connection = await agent.connect(url, { signal: deadline.signal, certificate });
      deadline.signal.addEventListener('abort', () => void connection.destroy(), { once: true });
      try {
        const transport = createTransport({
          host: bareHost(url.hostname),
          port: targetOf(url).port,
          secure: url.protocol === 'smtps:',
          getSocket: (_options, done) => done(null, { connection, secured: url.protocol === 'smtps:' }),
          tls: startTlsOptions(certificate),
          ...(password === null
            ? {}
            : { requireTLS: true, auth: { user: decodeURIComponent(url.username), pass: password } }),
          disableFileAccess: true,
          disableUrlAccess: true,
        });
        await transport.sendMail(contentOf(mail));
        return { ...outcome, status: 250 };
      } finally {
        connection.destroy();
      }
    } catch (thrown) {
      if (signal?.aborted === true) throw signal.reason;
      const { responseCode, response, command, originalCode } = thrown as Partial<Refusal>;
      if (responseCode !== undefined) {
        const error = `the mail server answered ${responseCode} to ${command}`;
        return { ...outcome, status: responseCode, error, said: response };
      }
      const timedOut = deadline.expired;
      const cause = originalCode === undefined ? thrown : { code: originalCode };
      const error = asUrlError(cause, 'the mail server', { field: FIELD, timeoutMs, timedOut, certificate });
      return { ...outcome, error: error.message, permanent: error.code === 'url-refused' };
    } finally {
      deadline.end();
    }
  };
}

/** The mailer changes to TLS itself, and has no place for a check of a fingerprint alone. */
function startTlsOptions(certificate: string | null | undefined): ConnectionOptions {
  const named = certificate == null ? undefined : readCertificate(certificate);
  if (named?.authority === undefined) return {};
  return {
    ca: named.authority,
    checkServerIdentity: (host, shown) =>
      named.fingerprints.includes(shown.fingerprint256) ? undefined : checkServerIdentity(host, shown),
  };
}

/** Members of the mailer's errors. */
interface Refusal {
  readonly responseCode: number;
  readonly response: string;
  readonly command: string;
  /** of the system or of TLS */
  readonly originalCode: string;
}

const jpegOf = (jpeg: Uint8Array, filename: string, cid: string) => ({
  filename,
  content: Buffer.from(jpeg),
  contentType: 'image/jpeg',
  cid,
});

const contentOf = ({ picture, crops = [], from, to, ...mail }: Mail) => ({
  ...mail,
  from,
  to: [...to],
  headers: { 'Auto-Submitted': 'auto-generated' },
  attachments: [
    ...(picture === undefined ? [] : [jpegOf(picture, 'change.jpg', 'picture')]),
    ...crops.map((crop, i) => jpegOf(crop, `crop-${i + 1}.jpg`, `crop-${i}`)),
  ],
});
