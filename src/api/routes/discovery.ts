/** Routes that search the local networks for cameras, and ask a camera for the addresses of its pictures. */
import type { Static } from 'typebox';
import { invalidValue } from '../../base/errors.js';
import { CameraAddressesSchema, FoundCamerasSchema } from '../../schemas/discovery.js';
import { checker } from '../../schemas/validation-error.js';
import { loginContext, sealLogin } from '../../secrets/login.js';
import type { Api, ApiDependencies, ApiOptions } from '../dependencies.js';
import { assertUrl, fetchRules } from '../intake/url-policy.js';
import { SnapshotTestRequestSchema } from '../schemas/camera.js';
import { BODY_PROBLEMS, json, problems, ref } from '../schemas/shared.js';

const tags = ['cameras'];
const REQUEST_PROBLEMS = ['url-refused', 'url-unavailable', 'overloaded'] as const;

const searchSchema = {
  operationId: 'discoverCameras',
  summary: 'Search the local networks for cameras',
  description:
    'A worker sends one ONVIF probe (WS-Discovery, multicast) into each of its networks that OUTBOUND_ALLOW names, and ' +
    'lists what answers within three seconds. It needs ONVIF_DISCOVERY=on, and stores nothing.',
  tags,
  response: { 200: json('The cameras.', ref(FoundCamerasSchema)), ...problems(REQUEST_PROBLEMS) },
};

const addressesSchema = {
  operationId: 'readCameraAddresses',
  summary: 'Ask a camera for the addresses of its pictures',
  description:
    'Asks the ONVIF service at `url`, one of the `addresses` of a found camera, with the login. It needs ' +
    'ONVIF_DISCOVERY=on, and stores nothing. Both addresses have the host of `url`.',
  tags,
  body: { content: { 'application/json': { schema: ref(SnapshotTestRequestSchema) } } },
  response: {
    200: json('The addresses.', ref(CameraAddressesSchema)),
    ...problems([...BODY_PROBLEMS, ...REQUEST_PROBLEMS, 'url-failed', 'invalid-value']),
  },
};
const checkRequest = checker(SnapshotTestRequestSchema);
/** Time beside the wait for the cameras. */
const SLACK_MS = 8_000;

export function discoveryRoutes(
  app: Api,
  { questions, loginKey }: Pick<ApiDependencies, 'questions' | 'loginKey'>,
  options: ApiOptions,
): void {
  const { allow } = fetchRules(options);
  const config = { scope: 'admin' } as const;

  app.post('/v1/discovery', { schema: searchSchema, config }, async () =>
    questions.ask({ kind: 'discover' }, SLACK_MS),
  );

  app.post('/v1/discovery/addresses', { schema: addressesSchema, config }, async (request) => {
    const { url, username, password } = checkRequest(request.body) as Static<typeof SnapshotTestRequestSchema>;
    assertUrl(url, 'url', { ...allow, publicToo: false });
    if ((username === undefined) !== (password === undefined)) {
      const missing = username === undefined ? 'username' : 'password';
      throw invalidValue(`${missing} is missing, expected both parts of the login, or none`, missing);
    }
    const login =
      username === undefined || password === undefined
        ? {}
        : { login: sealLogin({ username, password }, loginKey, loginContext('', url)) };
    return questions.ask({ kind: 'addresses', url, ...login }, options.outboundTimeoutMs + SLACK_MS);
  });
}
