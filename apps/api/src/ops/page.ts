import { html, type Html } from './html.js';

/** The frame of every page of operators: no script, one style sheet, works without either. */
export const page = (title: string, body: Html): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title} · Generation gateway</title>
        <link rel="stylesheet" href="/ops/style.css" />
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          ${body}
        </main>
      </body>
    </html>`.text;

/** The links on every page behind the sign-in. */
export const navigation = (role: string): Html =>
  html`<nav>
    <a href="/ops/queues">Queues</a>
    <a href="/ops/tasks">Tasks</a>
    <form method="post" action="/ops/sign-out"><button>Sign out (${role})</button></form>
  </nav>`;

export const STYLE = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; --line: #8884; --soft: #8882; --bad: #c0392b; }
body { margin: 0; }
main { max-width: 78rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.4rem; }
nav { display: flex; gap: 1rem; align-items: center; margin-bottom: 1rem; }
nav form { margin-left: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 0.35rem 0.6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; }
td.id, code { font-family: ui-monospace, monospace; font-size: 0.9em; }
.state { padding: 0.1rem 0.5rem; border-radius: 0.6rem; background: var(--soft); }
.state.failed { color: var(--bad); }
form.sign-in { display: grid; gap: 0.75rem; max-width: 24rem; }
input, button { font: inherit; padding: 0.4rem 0.6rem; }
.problem { color: var(--bad); }
`;
