import type { JsonObject } from '#contracts';

/** Takes native answers to the store, so that the end of a reply can wait for it. */
export interface Remembered {
  readonly note: (answer: JsonObject) => void;
  /** Resolves when everything noted is stored. */
  readonly done: () => Promise<void>;
}

/** @param remember undefined when nothing is to be kept. */
export function rememberWith(remember: ((answer: JsonObject) => Promise<void>) | undefined): Remembered {
  let saving: Promise<void> = Promise.resolve();
  return {
    note: (answer) => {
      if (remember) saving = remember(answer);
    },
    done: () => saving,
  };
}
