import { PERIOD_QUOTA, VendorErrors } from '../http/failure-rules.js';
import { bearer, type VendorRequest } from '../http/media-codec.js';

/** What videos and images of Alibaba Cloud Model Studio have in common. */
export const DASHSCOPE = {
  /** Singapore. Keys do not cross regions. */
  defaultBaseUrl: 'https://dashscope-intl.aliyuncs.com',
  domains: ['aliyuncs.com'],
  authorization: bearer,
  /** The list of tasks proves the key and costs nothing. */
  verification: { method: 'GET', path: '/api/v1/tasks?page_no=1&page_size=1' } satisfies VendorRequest,
};

const BEIJING = new Set(['dashscope.aliyuncs.com', 'dashscope-vpc.cn-beijing.aliyuncs.com']);

/** Whether an address is of the region that alone has effect templates. */
export function isBeijing(baseUrl: string | undefined): boolean {
  if (baseUrl === undefined) return false;
  const { hostname } = new URL(baseUrl);
  return BEIJING.has(hostname) || hostname.endsWith('.cn-beijing.maas.aliyuncs.com');
}

/** Of the order itself: in the reply to it, or in the state of work that was taken. */
const ON_ORDER = ['start', 'work'] as const;
const INSPECTED = [
  'DataInspectionFailed*',
  'data_inspection_failed*',
  'IPInfringementSuspect*',
  'CustomRoleBlocked*',
  'FaqRuleBlocked*',
];

/** Error codes of Model Studio, by its page of error messages as of November 2026. */
export const DASHSCOPE_ERRORS = new VendorErrors([
  { code: ['Arrearage', 'PostpaidBillOverdue', 'PrepaidBillOverdue', 'CommodityNotPurchased'], is: 'unpaid' },
  // Each model has a free quota of its own; it is reported as a rate limit, too.
  { code: ['AllocationQuota.FreeTierOnly'], is: 'unpaid_model' },
  { says: /^free allocated quota exceeded/i, is: 'unpaid_model' },
  {
    code: ['AccessDenied.Unpurchased', 'Model.AccessDenied', 'ModelNotFound', 'Model_not_found'],
    is: 'not_served_model',
  },
  { code: ['InvalidParameter'], says: /^model (?:does )?not exist/i, is: 'not_served_model' },
  { status: [429], says: PERIOD_QUOTA, on: ['start'], is: 'unpaid_model' },
  // Rates and the number of running tasks belong to one model of an account; the rate of checks to the account.
  { status: [429], on: ['start'], is: 'busy_model' },
  // `InvalidParameter.DataInspection`: the file to inspect could not be fetched or read; nothing was found in it.
  {
    on: ON_ORDER,
    code: [
      'InvalidURL*',
      'InvalidFile*',
      'InvalidImage*',
      'InvalidPerson*',
      'InvalidParameter.DataInspection*',
      'BadRequest.InputDownloadFailed*',
      'BadRequest.UnsupportedFileFormat*',
    ],
    is: 'file',
  },
  { on: ON_ORDER, code: INSPECTED, says: /\boutput\b/i, is: 'result' },
  { on: ON_ORDER, code: INSPECTED, says: /\b(?:image|video|audio)\b/i, is: 'reference' },
  { on: ON_ORDER, code: INSPECTED, says: /\b(?:text|prompt)\b/i, is: 'prompt' },
  { on: ON_ORDER, code: INSPECTED, is: 'content' },
  { status: [404], on: ['check'], is: 'lost' },
  // The inspection has no code of its own in some models.
  { on: ON_ORDER, says: /green net/i, is: 'content' },
]);
