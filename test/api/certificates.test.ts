/** The setting `certificate` of cameras and endpoints: the stored text, and texts that name no certificate. */
import { cameraApi } from '../helpers/camera-api.js';
import { fakeApp } from '../helpers/fake-app.js';

let service: Awaited<ReturnType<typeof fakeApp>>;
beforeAll(async () => {
  service = await fakeApp();
});
beforeEach(() => service.reset());
afterAll(() => service.app.close());
const { put } = cameraApi(() => service);

const FINGERPRINT = Array(32).fill('AB').join(':');
const snapshot = (certificate?: string) => ({
  snapshot: { url: 'rtsps://camera.example/stream', interval_s: 5, certificate },
});
const endpoint = (body: object) =>
  service.inject({ method: 'POST', url: '/v1/endpoints', payload: { url: 'https://r.example/in', ...body } });

it('is kept as it was given, and absent or null without one', async () => {
  expect((await put('gate', snapshot(FINGERPRINT))).json().snapshot.certificate).toBe(FINGERPRINT);
  expect((await put('gate', snapshot())).json().snapshot.certificate).toBeUndefined();
  const [named, other] = [await endpoint({ certificate: FINGERPRINT }), await endpoint({})];
  expect([named.json().certificate, other.json().certificate]).toEqual([FINGERPRINT, null]);
});

it('that is neither a fingerprint nor PEM is refused with both forms', async () => {
  const expected = 'is "trust me", expected a SHA-256 fingerprint of 64 hexadecimal digits, or certificates in PEM';
  expect((await put('gate', snapshot('trust me'))).json()).toMatchObject({
    ...{ status: 422, field: 'snapshot/certificate', detail: `snapshot/certificate ${expected}` },
  });
  expect((await endpoint({ certificate: 'trust me' })).json()).toMatchObject({
    ...{ status: 422, field: 'certificate', detail: `certificate ${expected}` },
  });
});

it('of a mail server that changes to TLS is PEM, because the fingerprint is not checked there', async () => {
  const address = 'user@mail.example?from=a@b.example&to=c@d.example';
  const mail = (scheme: string) =>
    endpoint({ url: `${scheme}://${address}`, format: 'email', certificate: FINGERPRINT });
  expect((await mail('smtp')).json()).toMatchObject({ status: 422, field: 'certificate' });
  expect((await mail('smtps')).statusCode).toBe(201);
});
