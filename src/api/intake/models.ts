/** The served models, as the live workers report them; the API itself loads none. */
import { readdir } from 'node:fs/promises';
import { type Static, Type } from 'typebox';
import { invalidRequest, ScenedeltaError } from '../../base/errors.js';
import type { OperatingPoint } from '../../camera/settings/operating-points.js';
import type { Config } from '../../process/config.js';
import { ModelDescriptionSchema } from '../../schemas/model-description.js';
import type { ApiDependencies } from '../dependencies.js';

const { provider, ...described } = ModelDescriptionSchema.properties;

export const ServedModelSchema = Type.Object(
  {
    ...described,
    served_by: Type.Array(
      Type.Object({
        provider,
        workers: Type.Integer({ minimum: 1, description: 'Live workers that run it on this device.' }),
      }),
    ),
  },
  { $id: 'ServedModel', description: 'A bundle that at least one live worker has loaded.' },
);
export type ServedModel = Static<typeof ServedModelSchema>;

type Workers = ApiDependencies['workers'];

/** @returns one entry per bundle; a name occurs twice only while a new version is rolled out */
export async function servedModels(workers: Workers): Promise<ServedModel[]> {
  const served = new Map<string, ServedModel>();
  for (const { provider, ...model } of (await workers.list()).flatMap((worker) => worker.models)) {
    const known = served.get(`${model.name} ${model.sha256}`) ?? { ...model, served_by: [] };
    const place = known.served_by.find((p) => p.provider === provider);
    if (place === undefined) known.served_by.push({ provider, workers: 1 });
    else place.workers++;
    served.set(`${model.name} ${model.sha256}`, known);
  }
  return [...served.values()];
}

/**
 * @param name null: the default model
 * @returns the operating points of the model; null if no live worker has reported them
 */
export async function operatingPointsOf(
  name: string | null,
  workers: Workers,
): Promise<readonly OperatingPoint[] | null> {
  const models = await servedModels(workers);
  const model = models.find((one) => (name === null ? one.default : one.name === name));
  return model?.operating_points ?? null;
}

/**
 * @throws ScenedeltaError 'unknown-model' if there are live workers and none serves it; without any, the worker
 * decides later
 */
export async function assertKnownModel(name: string | undefined, workers: Workers): Promise<void> {
  if (name === undefined) return;
  const names = [...new Set((await servedModels(workers)).map((model) => model.name))];
  if (names.length === 0 || names.includes(name)) return;
  throw new ScenedeltaError('unknown-model', `model is ${JSON.stringify(name)}, expected one of ${names.join(', ')}`, {
    field: 'model',
  });
}

/**
 * An API on a machine without MODELS_DIR checks nothing: its workers do.
 * @throws ScenedeltaError 'invalid-request' if MODELS_DIR has no folder of that name
 */
export async function assertDefaultModel({
  modelsDir,
  defaultModel,
}: Pick<Config, 'modelsDir' | 'defaultModel'>): Promise<void> {
  const entries = await readdir(modelsDir, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return;
  const names = entries.filter((entry) => !entry.isFile()).map(({ name }) => name);
  if (names.includes(defaultModel)) return;
  throw invalidRequest(
    `DEFAULT_MODEL=${JSON.stringify(defaultModel)}: expected a folder of ${modelsDir}, one of ${names.sort().join(', ')}`,
    'DEFAULT_MODEL',
  );
}
