import type { Request } from 'express';
import { html, type Html } from './html.js';

/** What a form or an address sent, without the fields that were left empty. A field that is sent twice stays a list. */
export const filled = (sent: unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries((sent ?? {}) as Record<string, unknown>).filter(([, value]) => value !== ''));

/** The same as the query of an address; lists and what is nested are left out. */
export const toQuery = (fields: Readonly<Record<string, unknown>>): URLSearchParams =>
  new URLSearchParams(
    Object.entries(fields).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );

export const queryOf = (request: Request): Record<string, unknown> => filled(request.query);

export interface TextField {
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'search' | 'datetime-local';
  /** Shown while it is empty. */
  readonly hint?: string;
}

export const textField = ({ name, label, type = 'text', hint = '' }: TextField, query: URLSearchParams): Html =>
  html`<label class="${type === 'datetime-local' ? 'long' : ''}"
    >${label}
    <input
      name="${name}"
      type="${type}"
      value="${valueOf(query.get(name) ?? '', type)}"
      placeholder="${hint}"
      maxlength="500"
      ${stepOf(type)}
    />
  </label>`;

/** The fields of browsers take no zone. */
const valueOf = (value: string, type: string): string =>
  type === 'datetime-local' ? value.replace(/(\.\d+)?Z$/, '') : value;

const stepOf = (type: string): Html | null => (type === 'datetime-local' ? html`step="1"` : null);

export const choiceField = (
  name: string,
  label: string,
  choices: readonly (readonly [value: string, label: string])[],
  query: URLSearchParams,
): Html =>
  html`<label
    >${label}
    <select name="${name}">
      ${choices.map(([value, words]) =>
        value === (query.get(name) ?? '')
          ? html`<option value="${value}" selected>${words}</option>`
          : html`<option value="${value}">${words}</option>`,
      )}
    </select>
  </label>`;

export const filterForm = (path: string, fields: readonly Html[]): Html =>
  html`<form class="filters panel" method="get" action="${path}">
    ${fields}
    <span class="buttons"><button>Search</button> <a href="${path}">Clear</a></span>
  </form>`;
