/** Requests to the camera routes of a fake service, and the privacy zone and the check that their tests share. */
import sharp from 'sharp';
import type { fakeApp } from './fake-app.js';
import type { form } from './requests.js';

type Service = Awaited<ReturnType<typeof fakeApp>>;

export const JSON_TYPE = { 'content-type': 'application/json' };
export const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

/** @param service a getter, because tests create the service in beforeAll */
export function cameraApi(service: () => Service) {
  return {
    /** @param settings an object, or the text of a body */
    put: (id: string, settings: unknown) =>
      service().inject({
        method: 'PUT',
        url: `/v1/cameras/${id}`,
        payload: typeof settings === 'string' ? settings : JSON.stringify(settings),
        headers: JSON_TYPE,
      }),
    get: (url: string) => service().inject({ method: 'GET', url }),
    /** Sends a frame as a form or as JSON. */
    send: (
      id: string,
      body: ReturnType<typeof form> | object,
      headers: Record<string, string> = { prefer: 'respond-async' },
    ) => {
      const isForm = 'payload' in body && Buffer.isBuffer(body.payload);
      const { payload, headers: formHeaders } = isForm
        ? (body as ReturnType<typeof form>)
        : { payload: JSON.stringify(body), headers: JSON_TYPE };
      return service().inject({
        method: 'POST',
        url: `/v1/cameras/${id}/frames`,
        payload,
        headers: { ...formHeaders, ...headers },
      });
    },
  };
}

/** @returns a polygon over the full height, from x1 to x2 in fractions of the width */
export const square = (x1: number, x2: number) => [
  [x1, 0],
  [x2, 0],
  [x2, 1],
  [x1, 1],
];
/** A privacy zone over the right half. */
export const PRIVACY = { id: 'window', type: 'privacy', polygon: square(0.5, 1) };

/** @returns whether an encoded picture is black on the right and bright on the left */
export async function isBlackRight(bytes: Uint8Array): Promise<boolean> {
  const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
  const level = (share: number) =>
    data[(Math.floor(info.height / 2) * info.width + Math.floor(share * info.width)) * info.channels] ?? -1;
  return level(0.9) < 8 && level(0.1) > 60;
}
