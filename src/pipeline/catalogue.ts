/** Catalogue of the bundles that a pipeline serves: look-up by name, and their descriptions. */
import { ScenedeltaError } from '../base/errors.js';
import type { Bundle } from '../model/manifest.js';
import type { Provider } from '../model/session.js';
import type { ModelUsed } from '../schemas/comparison.js';
import type { ModelDescription } from '../schemas/model-description.js';

export type OperatingPoints = Bundle['manifest']['calibration']['operating_points'];

export class Catalogue {
  readonly #bundles: ReadonlyMap<string, Bundle>;
  readonly #defaultModel: string;
  readonly #provider: Provider;

  /** @param defaultModel name of the bundle that `null` stands for */
  constructor(bundles: readonly Bundle[], defaultModel: string, provider: Provider) {
    this.#bundles = new Map(bundles.map((bundle) => [bundle.manifest.name, bundle]));
    this.#defaultModel = defaultModel;
    this.#provider = provider;
  }

  /** @throws ScenedeltaError unknown-model, with the names of all bundles */
  get(model: string | null): Bundle {
    const name = model ?? this.#defaultModel;
    const bundle = this.#bundles.get(name);
    if (bundle !== undefined) return bundle;
    const names = [...this.#bundles.keys()].join(', ');
    throw new ScenedeltaError('unknown-model', `there is no model ${JSON.stringify(name)}, expected one of ${names}`, {
      field: 'model',
    });
  }

  /** @returns the measured operating points of a bundle; none if there is no such bundle */
  operatingPoints(model: string | null): OperatingPoints {
    return this.#bundles.get(model ?? this.#defaultModel)?.manifest.calibration.operating_points ?? [];
  }

  /** @returns the identity of a bundle, as a finding states it */
  modelUsed({ manifest, sha256 }: Bundle): ModelUsed {
    return { name: manifest.name, version: manifest.version, sha256, provider: this.#provider };
  }

  describe(): ModelDescription[] {
    return [...this.#bundles.values()].map((bundle) => ({
      ...this.modelUsed(bundle),
      architecture: bundle.manifest.architecture,
      licence: bundle.manifest.licence,
      default: bundle.manifest.name === this.#defaultModel,
      metrics: bundle.manifest.metrics,
      operating_points: bundle.manifest.calibration.operating_points.map(({ false_alarm_rate, threshold }) => ({
        false_alarm_rate,
        threshold,
      })),
    }));
  }
}
