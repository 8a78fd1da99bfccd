import { GatewayError } from '#contracts';
import type { NextFunction, Request, Response } from 'express';

/** Refuses addresses that no text can come of: null characters, which Postgres cannot hold, and what is not UTF-8. */
export function rejectBadUrl(request: Request, _response: Response, next: NextFunction): void {
  if (isReadable(request)) return next();
  next(
    new GatewayError(
      'invalid_parameter',
      'The address of the request must be percent-encoded UTF-8 without null characters (%00).',
    ),
  );
}

function isReadable({ url, path }: Request): boolean {
  if (!url.includes('%')) return true;
  try {
    decodeURIComponent(path);
    return !url.includes('%00');
  } catch {
    return false;
  }
}
