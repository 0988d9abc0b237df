/** Evidence packages: from the query of a request to a zip, or to an object in the bucket of an endpoint. */
import type { Static } from 'typebox';
import type { Locale } from '../../language/locales.js';
import { DEFAULT_LOCALE } from '../../language/translate.js';
import type { EndpointRecord } from '../../stores/delivery/endpoints.js';
import type { Visibility } from '../../stores/redis/visibility.js';
import type { RouteContext } from '../routes/context.js';
import type { EvidenceQuery } from '../schemas/evidence.js';
import { collectEvidence, type Evidence } from './collect.js';
import { packageOf } from './package.js';
import { createUploads } from './upload.js';

/** The reader of a package: the rights of the key, and the language of the request. */
interface Reader {
  readonly visibility: Visibility;
  readonly locale: Locale | undefined;
}
type Query = Static<typeof EvidenceQuery>;

export function createEvidence(deps: RouteContext) {
  const putInto = createUploads(deps);
  const zip = async (evidence: Evidence, { locale }: Reader) =>
    packageOf(evidence, await deps.evidenceKey(), deps, locale ?? evidence.camera.locale ?? DEFAULT_LOCALE);
  return {
    /** @throws ScenedeltaError as collectEvidence does */
    zipOf: async (query: Query, reader: Reader) => zip(await collectEvidence(query, reader.visibility, deps), reader),
    /**
     * @param apiKeyId of the request
     * @throws ScenedeltaError as collectEvidence and createUploads do
     */
    upload: (query: Query, receiver: EndpointRecord, reader: Reader, apiKeyId: string) =>
      putInto(receiver, {
        collect: () => collectEvidence(query, reader.visibility, deps),
        zip: (evidence) => zip(evidence, reader),
        apiKeyId,
      }),
  };
}
