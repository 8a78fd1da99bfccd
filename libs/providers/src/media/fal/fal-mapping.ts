import type { JsonObject, PlannedOrder } from '#contracts';
import type { FileAddress } from '../http/media-codec.js';

/** An order in fal's words: `endpoint` is what follows the model's name in the address, if anything does. */
export interface FalOrder {
  readonly endpoint?: string;
  readonly input: JsonObject;
}

/** Writes the orders of one family. @throws NotMakeable for what fal lacks. */
export type FalMapping = (order: PlannedOrder, file: FileAddress) => FalOrder;
