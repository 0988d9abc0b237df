/** Comparison of two frames for the companion: in this process, or by the API of a running service. */

import { ScenedeltaError } from '../../base/errors.js';
import { Pipeline } from '../../pipeline/compare.js';
import type { Config } from '../../process/config.js';
import { createLogger } from '../../process/logger.js';
import { withBundles } from '../config-with.js';

export interface Comparer {
  /** @throws ScenedeltaError; permanent: these frames cannot be compared */
  compare(before: Uint8Array, after: Uint8Array): Promise<string>;
  close(): Promise<void>;
}

/** Longest wait for the answer of the API, s; a comparison that takes longer is tried again. */
const WAIT_SECONDS = 60;

/** @throws ScenedeltaError 'unknown-model' */
export async function openPipeline(config: Config): Promise<Comparer> {
  const logger = createLogger({ level: 'silent', name: 'companion' });
  const pipeline = await withBundles(config, Pipeline.start({ config, logger, onlyDefault: true }));
  return {
    compare: async (before, after) => (await pipeline.compare({ before, after })).finding.caption,
    close: () => pipeline.close(),
  };
}

/** @param base address without a slash at the end */
export function openApi(base: string, key: string | undefined): Comparer {
  const headers = { prefer: `wait=${WAIT_SECONDS}`, ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) };
  return {
    async compare(before, after) {
      const body = new FormData();
      for (const [name, bytes] of Object.entries({ before, after })) {
        body.set(name, new Blob([new Uint8Array(bytes)]), `${name}.jpg`);
      }
      const signal = AbortSignal.timeout((WAIT_SECONDS + 10) * 1000);
      const answer = await fetch(`${base}/v1/comparisons`, { method: 'POST', body, headers, signal }).catch((cause) => {
        throw new ScenedeltaError('queue-unavailable', `${base} cannot be reached`, { cause });
      });
      const text = await answer.text();
      const fields = fieldsOf(text);
      if (answer.status === 200 && typeof fields.caption === 'string') return fields.caption;
      const detail = typeof fields.detail === 'string' ? fields.detail : JSON.stringify(text.slice(0, 80));
      const message = `${base} answered ${answer.status}: ${detail}`;
      if (answer.status === 401 || answer.status === 403) throw new ScenedeltaError('unauthorized', message);
      // Frames that cannot be compared.
      if ([400, 413, 415, 422].includes(answer.status)) throw new ScenedeltaError('image-unreadable', message);
      throw new ScenedeltaError('queue-unavailable', message);
    },
    close: async () => {},
  };
}

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
