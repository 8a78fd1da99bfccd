import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMessages } from '../messages/language';

/** The filters above a list. They take effect as they are typed. */
export function Filters({ children }: { readonly children: ReactNode }) {
  const { common } = useMessages();
  return (
    <form className="filters" role="search" aria-label={common.filter} onSubmit={(event) => event.preventDefault()}>
      {children}
    </form>
  );
}

/**
 * Filters that are kept in the address of this page: gives each field its value there, and how to change it. An empty one is left out.
 *
 * @param search of the page, as it is now.
 */
export function useFilters<Search extends object>(search: Search) {
  const { common } = useMessages();
  const navigate = useNavigate();
  type Name = keyof Search & string;
  const value = (name: Name) => String(search[name] ?? '');
  const set = (name: Name, typed: string) =>
    void navigate({ to: '.', search: (before) => ({ ...before, [name]: typed || undefined }), replace: true });
  const change = (name: Name) => (typed: string) => set(name, typed);
  return {
    set,
    text: (name: Name) => ({ type: 'search', value: value(name), onType: change(name) }),
    choice: (name: Name) => ({ none: common.any, value: value(name), onChoose: change(name) }),
    check: (name: Name) => ({
      checked: value(name) === 'true',
      onChange: ({ target }: { readonly target: HTMLInputElement }) => change(name)(target.checked ? 'true' : ''),
    }),
  };
}
