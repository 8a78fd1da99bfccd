import type { en } from './en';
import { common, failures, product, status } from './zh/common';
import { roles, shell } from './zh/shell';

export const zh = { product, common, status, failures, shell, roles } satisfies typeof en;
