import { PERIOD_QUOTA, VendorErrors } from '../http/failure-rules.js';
import { fieldIn } from '../http/media-codec.js';

/** Ark's error codes, by its error-code page and its page about bursts of traffic as of November 2026. */
export const ARK_ERRORS = new VendorErrors(
  [
    {
      code: ['AccountOverdueError', 'InvalidAccountStatus', 'InvalidSubscription', 'OperationDenied.ServiceOverdue'],
      is: 'unpaid',
    },
    // Spend limits and free trials are of one model each.
    { code: ['SetLimitExceeded'], is: 'unpaid_model' },
    // One code for a full queue and for a trial that is used up.
    { code: ['QuotaExceeded'], says: /free (?:trial|quota|tier)|used up|exhausted/i, is: 'unpaid_model' },
    // What a plan allows in five hours, a week or a month comes as a rate too.
    { status: [429], says: PERIOD_QUOTA, is: 'unpaid' },
    // The rates and the queue of the account as a whole; every other 429 belongs to a model.
    { status: [429], code: ['APIAccount*', 'Account*', 'QuotaExceeded*'], is: 'busy' },
    { status: [429], is: 'busy_model' },
    {
      code: [
        'ModelNotOpen',
        'InvalidEndpointOrModel',
        'InvalidEndpointOrModel.NotFound',
        'InvalidEndpoint.ClosedEndpoint',
      ],
      is: 'not_served_model',
    },
    { code: ['Output*SensitiveContentDetected*'], is: 'result' },
    { code: ['*SensitiveContentDetected*PrivacyInformation*'], is: 'face' },
    { code: ['Output*RiskDetection*'], is: 'result' },
    {
      code: ['SensitiveContentDetected*', 'InputSensitiveContentDetected*', 'ContentSecurityDetectionError*'],
      is: 'content',
    },
    { code: ['*TextSensitiveContentDetected*', 'InputTextRiskDetection*'], is: 'prompt' },
    {
      code: [
        'InputImageRiskDetection*',
        '*ImageSensitiveContentDetected*',
        '*VideoSensitiveContentDetected*',
        '*AudioSensitiveContentDetected*',
      ],
      is: 'reference',
    },
    { code: ['InvalidImageURL*', 'InvalidImageFormat*', 'OversizeImage*'], is: 'file' },
    { status: [404], on: ['check'], is: 'lost' },
  ],
  (body) => fieldIn(body, 'error'),
);
