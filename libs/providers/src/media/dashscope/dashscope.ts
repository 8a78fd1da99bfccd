import type { VendorRequest } from '../http/media-codec.js';

/** What videos and images of Alibaba Cloud Model Studio have in common. */
export const DASHSCOPE = {
  /** Singapore. Keys do not cross regions. */
  defaultBaseUrl: 'https://dashscope-intl.aliyuncs.com',
  domains: ['aliyuncs.com'],
  authorization: (key: string) => ({ authorization: `Bearer ${key}` }),
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
