import type { Request } from 'express';
import { styleOf } from './request-style.js';

const PAID_STYLES: ReadonlySet<string> = new Set(['responses', 'gemini', 'messages', 'video', 'image']);
const FREE = /count_tokens\/?$|:countTokens$/i;

/** True for a request that costs money: only these are limited by the minute and can carry an Idempotency-Key. */
export const isPaidRequest = ({ method, path }: Request): boolean =>
  method === 'POST' && PAID_STYLES.has(styleOf(path)) && !FREE.test(path);

/** True for a request that makes a task. */
export const isTaskSubmission = (request: Request): boolean =>
  request.method === 'POST' && ['video', 'image'].includes(styleOf(request.path));
