import type { JsonObject } from '#contracts';
import { logger } from '#platform';

const log = logger('text');

/**
 * Takes native answers to the store, so that the end of a reply can wait for it. A store that fails spoils no answer:
 * what it lacks is not found later, and the log says so.
 */
export interface Remembered {
  /** @param json the answer as JSON, where it is at hand. */
  readonly note: (answer: JsonObject, json?: string) => void;
  /** Resolves when everything noted is stored or could not be. */
  readonly done: () => Promise<void>;
}

/** @param remember undefined when nothing is to be kept. */
export function rememberWith(
  remember: ((answer: JsonObject, json?: string) => Promise<void>) | undefined,
  requestId: string,
): Remembered {
  let saving: Promise<void> = Promise.resolve();
  return {
    note: (answer, json) => {
      if (remember)
        saving = remember(answer, json).catch((error: unknown) =>
          log.error('response.not_stored', { requestId, error }),
        );
    },
    done: () => saving,
  };
}
