/** Certificates of a test's own authority, made by openssl. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

const KEY = ['-newkey', 'rsa:2048', '-nodes'];
const openssl = (args: readonly string[]) => execFileSync('openssl', args, { stdio: 'ignore' });

/** Files in PEM format. */
export interface Authority {
  readonly ca: string;
  /** @param name as in subjectAltName: 'IP:127.0.0.1' or 'DNS:broker.example' */
  certify(name: string): { readonly cert: string; readonly key: string };
  remove(): void;
}

export function makeAuthority(): Authority {
  const folder = mkdtempSync(join(tmpdir(), 'sd-ca-'));
  const [ca, caKey] = [join(folder, 'ca.pem'), join(folder, 'ca-key.pem')];
  openssl(['req', '-x509', ...KEY, '-days', '2', '-subj', '/CN=authority of a test', '-keyout', caKey, '-out', ca]);
  let count = 0;
  return {
    ca,
    certify: (name) => {
      const [key, cert, request, extensions] = ['key', 'cert', 'request', 'extensions'].map((what) =>
        join(folder, `${what}-${count}.pem`),
      ) as [string, string, string, string];
      count++;
      writeFileSync(extensions, `subjectAltName=${name}\n`);
      openssl(['req', ...KEY, '-subj', '/CN=server', '-keyout', key, '-out', request]);
      const signing = ['-CA', ca, '-CAkey', caKey, '-CAcreateserial', '-days', '2', '-extfile', extensions];
      openssl(['x509', '-req', '-in', request, ...signing, '-out', cert]);
      return { cert, key };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
