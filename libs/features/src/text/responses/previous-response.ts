/** Where an upstream says that a response continues none. Inside a text the quotes would be escaped. */
const FROM_NONE = /"previous_response_id"\s*:\s*null/g;

/**
 * The JSON of a relayed response, or events with one, with the id of the response it continues. The upstream got the
 * conversation instead, so that it names none.
 */
export const withPrevious = (json: string, previous: string | null | undefined): string =>
  previous ? json.replace(FROM_NONE, () => `"previous_response_id":${JSON.stringify(previous)}`) : json;
