/** Where an upstream says that a response went on from none. Inside a text the quotes would be escaped. */
const FROM_NONE = /"previous_response_id"\s*:\s*null/g;

/**
 * The JSON of a relayed response, or events with one, that says from which response it went on. The upstream was told
 * the conversation instead, so that it knows of none.
 */
export const withPrevious = (json: string, previous: string | null | undefined): string =>
  previous ? json.replace(FROM_NONE, () => `"previous_response_id":${JSON.stringify(previous)}`) : json;
