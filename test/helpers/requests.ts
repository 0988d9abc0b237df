/** Request bodies as clients send them. */
import sharp from 'sharp';

/** A small JPEG of one colour; another level gives other bytes. */
export const jpeg = (level = 90, width = 64, height = 48): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background: { r: level, g: level, b: level } } })
    .jpeg()
    .toBuffer();

type Part = Buffer | string;

/** multipart/form-data: buffers become files, strings become fields. */
export function form(parts: Readonly<Record<string, Part>> | readonly (readonly [string, Part])[]) {
  const boundary = '----scenedelta-test-boundary';
  const chunks: Buffer[] = [];
  for (const [name, value] of Array.isArray(parts) ? parts : Object.entries(parts)) {
    const file = Buffer.isBuffer(value);
    chunks.push(
      Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file ? '; filename="frame.jpg"\r\nContent-Type: application/octet-stream' : ''}\r\n\r\n`,
      ),
      Buffer.from(value as Buffer),
      Buffer.from('\r\n'),
    );
  }
  chunks.push(Buffer.from(`--${boundary}--\r\n`));
  return {
    payload: Buffer.concat(chunks),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  };
}

export const post = (
  body: { payload: Buffer; headers: Record<string, string> } | object,
  headers: Record<string, string> = { prefer: 'respond-async' },
) => {
  const isForm = 'payload' in body && Buffer.isBuffer(body.payload);
  const { payload, headers: formHeaders } = isForm
    ? (body as { payload: Buffer; headers: Record<string, string> })
    : { payload: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  return {
    method: 'POST',
    url: '/v1/comparisons',
    payload,
    headers: { ...formHeaders, ...headers },
  } as const;
};
