import { html, type Html } from './html.js';
import type { OperatorRole } from './operator-access.js';

export { STYLE } from './style.js';

const SECTIONS = [
  ['/ops', 'Overview'],
  ['/ops/tasks', 'Tasks'],
  ['/ops/deliveries', 'Deliveries'],
  ['/ops/workers', 'Workers'],
  ['/ops/queues', 'Queues'],
] as const;

/** The viewer of a page behind the sign-in, and the section of the site it belongs to. */
export interface PageFrame {
  readonly role: OperatorRole;
  readonly section: (typeof SECTIONS)[number][0];
}

/** The frame of every page of operators: no script, one style sheet, works without either. Strangers see no navigation. */
export const page = (title: string, body: Html, frame: PageFrame | null = null): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · Generation gateway</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/ops/style.css" />
      </head>
      <body>
        ${frame && html`<a class="skip" href="#content">Skip to content</a>`}
        <header>
          <span class="brand">Generation gateway <small>operations</small></span>
          ${frame && navigation(frame)}
        </header>
        <main id="content">
          <h1>${title}</h1>
          ${body}
        </main>
      </body>
    </html>`.text;

const navigation = ({ role, section }: PageFrame): Html =>
  html`<nav aria-label="Operations">
    ${SECTIONS.map(([path, name]) =>
      path === section ? html`<a href="${path}" aria-current="page">${name}</a>` : html`<a href="${path}">${name}</a>`,
    )}
    <form method="post" action="/ops/sign-out"><button>Sign out (${role})</button></form>
  </nav>`;
