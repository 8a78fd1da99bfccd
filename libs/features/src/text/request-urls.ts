import { GatewayError, MAX_URL_LENGTH, type NamedUrl } from '#contracts';
import { FetchRefused, type ForwardedUrls } from '#platform';

/**
 * Checks the URLs of a request before any part of it is sent.
 *
 * @param resolvesNames true when an upstream fetches them from the operator's own network.
 * @throws GatewayError `invalid_parameter` naming the field.
 */
export async function checkRequestUrls(
  rules: ForwardedUrls,
  named: readonly NamedUrl[],
  resolvesNames: boolean,
): Promise<void> {
  const urls = named.map(({ param, url }) => {
    if (url.length > MAX_URL_LENGTH) throw tooLong(param);
    return refusing(param, () => rules.check(url));
  });
  if (!resolvesNames) return;
  try {
    await rules.checkNames(urls);
  } catch (error) {
    throw refusalOf(error, named[0]?.param ?? 'url');
  }
}

const tooLong = (param: string): GatewayError =>
  new GatewayError('invalid_parameter', `${param} must be a URL of at most ${MAX_URL_LENGTH} characters.`, { param });

function refusing<T>(param: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw refusalOf(error, param);
  }
}

function refusalOf(error: unknown, param: string): unknown {
  if (!(error instanceof FetchRefused)) return error;
  return new GatewayError('invalid_parameter', `${param} must be a public http or https URL: ${error.message}.`, {
    param,
  });
}
