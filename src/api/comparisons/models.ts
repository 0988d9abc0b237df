/** Which models there are, as the live workers tell it: the API itself never loads one. */
import { ScenedeltaError } from '../../errors.js';
import type { ModelDescription } from '../../stores/workers.js';
import type { ApiDependencies } from '../dependencies.js';

type Workers = ApiDependencies['workers'];

export interface ServedModel extends ModelDescription {
  /** live workers that have it loaded */
  readonly workers: number;
}

/** By name, version and provider: two workers may serve one bundle on different hardware. */
export async function servedModels(workers: Workers): Promise<ServedModel[]> {
  const served = new Map<string, ServedModel>();
  for (const model of (await workers.list()).flatMap((worker) => worker.models)) {
    const key = [model.name, model.version, model.sha256, model.provider].join('\n');
    served.set(key, { ...model, workers: (served.get(key)?.workers ?? 0) + 1 });
  }
  return [...served.values()];
}

/** @throws ScenedeltaError 'unknown-model' where workers live and none of them serves it; else the worker decides. */
export async function assertKnownModel(name: string | undefined, workers: Workers): Promise<void> {
  if (name === undefined) return;
  const names = [...new Set((await servedModels(workers)).map((model) => model.name))];
  if (names.length === 0 || names.includes(name)) return;
  throw new ScenedeltaError(
    'unknown-model',
    `model is ${JSON.stringify(name)}, expected one of ${names.join(', ')}`,
    {
      field: 'model',
    },
  );
}
