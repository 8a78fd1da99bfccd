import type { Clock, ForwardedUrls } from '#platform';
import type { LeavingLimits, TokenCounter } from '#providers';
import type { HostedTools } from './hosted-tools/hosted-tools.js';
import type { TextBilling } from './text-billing.js';
import type { TextRouter } from './text-router.js';
import type { TextUpstreams } from './text-upstreams.js';

/** What text is answered with. */
export interface TextParts {
  readonly router: TextRouter;
  readonly billing: TextBilling;
  readonly upstreams: TextUpstreams;
  readonly leaving: LeavingLimits;
  readonly counter: () => Promise<TokenCounter>;
  readonly clock: Clock;
  readonly urls: ForwardedUrls;
  readonly hosted: HostedTools;
}
