/** How long an order takes to show up in a search at the fake vendor, in milliseconds. */
export const SEARCHABLE_AFTER_MS = 400;
