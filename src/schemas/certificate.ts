/** Setting that names the certificate of a server (process/connect.ts reads it). */
import { Type } from 'typebox';

export const CertificateSchema = Type.String({ minLength: 1, maxLength: 16_384 });
export const CERTIFICATE =
  'Certificate that the server may have beside those of known authorities: its SHA-256 fingerprint in hexadecimal, as ' +
  'the refusal of it states, or in PEM the certificate itself or that of an authority.';
export const CERTIFICATE_EXPECTED = 'expected a SHA-256 fingerprint of 64 hexadecimal digits, or certificates in PEM';
