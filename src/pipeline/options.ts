/** Options of a pipeline. */
import type { Config } from '../config.js';
import type { Logger } from '../logger.js';

export interface PipelineOptions {
  readonly config: Pick<
    Config,
    | 'dataDir'
    | 'modelsDir'
    | 'defaultModel'
    | 'device'
    | 'strictDevice'
    | 'inferenceThreads'
    | 'batchSize'
    | 'featureCacheMb'
    | 'pixelLimit'
    | 'decodeTimeout'
    | 'comparisonTimeout'
    | 'truth'
  >;
  readonly logger: Logger;
  /** loads no other bundle than the default one: a command that compares one pair needs no more */
  readonly onlyDefault?: boolean;
  /** false: starts sooner, and the first comparisons take longer; absent = true */
  readonly warmUp?: boolean;
  /** compiled entry of the inference threads; tests may give another */
  readonly threadScript?: URL;
  /** is called per full frame, with whether its features were cached */
  readonly onCacheLookup?: (hit: boolean) => void;
}
