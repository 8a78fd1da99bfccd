import type { Response } from 'express';

/** Sends JSON that is already text. Express's own `json` also looks for ways to send nothing, which no answer here needs. */
export function sendJson(response: Response, json: string): void {
  response.writeHead(response.statusCode, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(json),
  });
  response.end(json);
}
