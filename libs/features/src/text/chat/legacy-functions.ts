import type { ChatRequest } from '#contracts';

/** Whether the caller offers functions by `functions`, which `tools` replaced, and reads calls as `function_call` alone. */
export const offersLegacyFunctions = ({ functions }: Pick<ChatRequest, 'functions'>): boolean =>
  (functions ?? []).length > 0;
