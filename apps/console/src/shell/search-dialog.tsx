import { useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { useRead, useSession } from '../api/queries';
import { Button } from '../components/button';
import { Dialog } from '../components/dialog';
import { TextField } from '../components/fields';
import { useMessages } from '../messages/language';
import { menuFor } from './navigation';
import { entityLink } from './entity-links';

const MOST_MODELS = 6;
const SHORTEST_NAME = 3;
const TAG = /^[\w.:-]{1,64}$/;

/** Goes to a page, a model, or whatever an identifier names. */
export default function SearchDialog({ onClose }: { readonly onClose: () => void }) {
  const { shell } = useMessages();
  const [text, setText] = useState('');
  const { history } = useRouter();
  const found = useFound(text.trim());
  const open = (href: string, isOutside = false) => {
    onClose();
    if (isOutside) location.assign(href);
    else history.push(href);
  };
  return (
    <Dialog
      title={shell.searchTitle}
      onClose={onClose}
      onSubmit={() => {
        const first = found[0];
        if (first) open(first.href, first.isOutside);
      }}
    >
      <div className="stack tight">
        <TextField
          label={shell.search}
          hint={shell.searchHint}
          value={text}
          autoFocus
          autoComplete="off"
          onType={setText}
        />
        <ul className="results">
          {found.map((each) => (
            <li key={each.href}>
              <Button look="quiet" label={each.label} onClick={() => open(each.href, each.isOutside)} />
            </li>
          ))}
        </ul>
        {found.length === 0 && <p className="muted">{shell.searchNothing}</p>}
      </div>
    </Dialog>
  );
}

/** Where work is found by what its client called it: the session of an agent, or a tag. */
function namedWork(text: string, permissions: readonly string[]) {
  if (text.length < SHORTEST_NAME) return [];
  const query = encodeURIComponent(text);
  const sessions = permissions.includes('usage:read')
    ? '/console/agent-sessions'
    : permissions.includes('admin:accounts')
      ? '/console/admin/agent-sessions'
      : undefined;
  return [
    ...(sessions === undefined ? [] : [{ kind: 'openSessions' as const, href: `${sessions}?text=${query}` }]),
    ...(permissions.includes('usage:read') && TAG.test(text)
      ? [{ kind: 'openTag' as const, href: `/console/usage?tag=${query}` }]
      : []),
  ];
}

interface Found {
  readonly href: string;
  readonly label: string;
  readonly isOutside?: boolean;
}

function useFound(text: string): Found[] {
  const { shell } = useMessages();
  const { permissions } = useSession();
  const models = useRead('GET /models', {}, { enabled: text !== '' && permissions.includes('models:read') });
  const link = entityLink(text);
  if (link) {
    const words = { task: shell.openTask, request: shell.openRequest, key: shell.openKey }[link.kind];
    return [{ href: link.href, label: words(link.id) }];
  }
  const fits = (name: string) => name.toLowerCase().includes(text.toLowerCase());
  const pages = menuFor(permissions)
    .flatMap((group) => group.pages)
    .map((page) => ({
      href: page.isOutside ? page.to : `/console${page.to}`,
      label: shell.pages[page.name],
      isOutside: page.isOutside ?? false,
    }))
    .filter(({ label }) => fits(label));
  const fittingModels =
    text === '' ? [] : (models.data?.items ?? []).filter(({ id }) => fits(id)).slice(0, MOST_MODELS);
  return [
    ...pages,
    ...namedWork(text, permissions).map(({ href, kind }) => ({ href, label: shell[kind](text) })),
    ...fittingModels.map(({ id }) => ({
      href: `/console/models/${encodeURIComponent(id)}`,
      label: shell.openModel(id),
    })),
  ];
}
