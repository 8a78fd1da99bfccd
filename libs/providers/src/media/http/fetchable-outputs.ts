import { failedBecause, MediaFailure, type OperationState, type ProviderOutput, type Started } from '#contracts';
import type { MediaCodec } from './media-codec.js';

/** Longer than any signed link. */
const MAX_URL = 8_192;

/** Where the files of a protocol may be. */
interface FilePlaces {
  readonly codec: MediaCodec;
  /** Of the vendor's API. */
  readonly origin: string;
}

/** Whether a file can be fetched at all: by a link, from where the vendor keeps it behind its key, or from our own spool. */
function isFetchable({ url }: ProviderOutput, { codec, origin }: FilePlaces): boolean {
  if (url.length > MAX_URL) return false;
  if (url.startsWith('kept:')) return codec.inlineFiles !== undefined && URL.canParse(url);
  return (/^https?:/i.test(url) && URL.canParse(url)) || codec.fileAddress?.(url, origin) !== undefined;
}

/** The files that can be fetched, each without what is no length and no time. */
const fetchableOutputs = (outputs: readonly ProviderOutput[], places: FilePlaces): ProviderOutput[] =>
  outputs
    .filter((output) => isFetchable(output, places))
    .map(({ seconds = 0, expiresAtMs = 0, ...output }) => ({
      ...output,
      ...(Number.isFinite(seconds) && seconds > 0 && { seconds }),
      ...(Number.isSafeInteger(expiresAtMs) && expiresAtMs > 0 && { expiresAtMs }),
    }));

/** The start without files that cannot be fetched. @throws MediaFailure `refused`: none is left. */
export function fetchableStart(started: Started, places: FilePlaces): Started {
  if (started.kind === 'operation') return started;
  const outputs = fetchableOutputs(started.outputs, places);
  if (outputs.length === 0) throw new MediaFailure('refused', 'nothing_delivered');
  return { ...started, outputs };
}

/** The state without files that cannot be fetched; with none, the work has failed. */
export function fetchableState<State extends OperationState>(state: State, places: FilePlaces): State | OperationState {
  if (state.state !== 'succeeded') return state;
  const outputs = fetchableOutputs(state.outputs, places);
  return outputs.length > 0 ? { ...state, outputs } : failedBecause('nothing_delivered');
}
