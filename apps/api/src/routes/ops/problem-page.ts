import type { NextFunction, Request, Response } from 'express';
import { GatewayError } from '#contracts';
import { html, type Html } from './html.js';
import { roleOf } from './ops-gate.js';
import { page } from './page.js';

/** Part of a page, or what was wrong with what was asked for in its place. */
export async function withProblem(
  make: () => Promise<Html>,
): Promise<{ readonly status: number; readonly body: Html }> {
  try {
    return { status: 200, body: await make() };
  } catch (error) {
    if (!(error instanceof GatewayError) || error.status >= 500) throw error;
    return { status: error.status, body: html`<p class="problem" role="alert">${error.message}</p>` };
  }
}

/** Renders a refused request as a page; JSON clients and our own faults are left to the error filter of the API. */
export function problemPage(error: unknown, request: Request, response: Response, next: NextFunction): void {
  const isShown = error instanceof GatewayError && error.status < 500 && !response.headersSent;
  if (!isShown || request.accepts(['json', 'html']) !== 'html') return next(error);
  const body = html`<p class="problem" role="alert">${error.message}</p>
    <p>Nothing was changed. Go back, or to the <a href="/ops">overview</a>.</p>`;
  response
    .status(error.status)
    .type('html')
    .send(page('That was refused', body, { role: roleOf(response), section: '/ops' }));
}
