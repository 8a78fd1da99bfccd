import type { ProtocolOptions } from './protocol-codec.js';

/** Reasoning models of one vendor that refuse every temperature but the usual, with or without the name of a maker in front. */
const USUAL_ONLY = /(?:^|\/)(?:o[134](?:-|$)|gpt-5(?:$|-(?:mini|nano|pro|codex|\d{4})))/i;

/** Whether a chat or responses upstream is sent temperature and its like, which some models refuse. */
export const takesSampling = (model: string, { takesSampling: isSent }: ProtocolOptions): boolean =>
  isSent ?? !USUAL_ONLY.test(model);
