import type { JsonObject } from '#contracts';

/** A checked body, or a part of one, as the plain JSON it is. */
export const asJson = (value: object): JsonObject => value as JsonObject;
