import { type FieldError, fileUrls, GatewayError, type JsonObject, type ModelFamily } from '#contracts';
import type { MediaStore } from '#media';
import { FetchRefused, type SafeFetcher } from '#platform';

/**
 * Refuses URLs of files that no worker would fetch: literal addresses that are not public, in any spelling, names of local
 * networks, credentials and ports. Nothing is resolved or called: what a name leads to is judged by the worker.
 * Links to files of our own are read from the store, so that they may lead anywhere.
 *
 * @throws GatewayError `invalid_parameter` that lists every field.
 */
export function checkFileUrls(
  family: ModelFamily,
  parameters: JsonObject,
  fetcher: SafeFetcher,
  store: Pick<MediaStore, 'keyOf'>,
): void {
  const [first, ...others] = fileUrls(family.fields, parameters).flatMap(({ param, url }): FieldError[] => {
    const problem = store.keyOf(url) === undefined ? problemOf(url, fetcher) : undefined;
    if (problem === undefined) return [];
    return [{ param, code: 'invalid_parameter', message: `${param} cannot be fetched: ${problem}.` }];
  });
  if (first) throw GatewayError.fromFields([first, ...others]);
}

function problemOf(url: string, fetcher: SafeFetcher): string | undefined {
  try {
    fetcher.checkLater(url);
    return undefined;
  } catch (error) {
    if (error instanceof FetchRefused) return error.message;
    throw error;
  }
}
