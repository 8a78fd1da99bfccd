import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError } from '../../api/api-error';
import { useChange, useMay, useRead } from '../../api/queries';
import type { AdminPriceListSummary } from '../../api/types';
import { Button } from '../../components/button';
import { FormDialog } from '../../components/confirm-dialog';
import { TextField } from '../../components/fields';
import { Page } from '../../components/page';
import { Empty, Loaded } from '../../components/states';
import { type Column, Table } from '../../components/table';
import { None, Time } from '../../components/values';
import { formatCount } from '../../format/number';
import { useLanguage, useMessages } from '../../messages/language';
import { BelowCost, PriceTabs } from './price-parts';

const route = getRouteApi('/shell/admin/prices/lists');

/** Price lists by customer, and who has which. */
export function PriceListsPage() {
  const { lists: words } = useMessages().selling;
  const mayWrite = useMay('admin:write');
  const { add } = route.useSearch();
  const navigate = route.useNavigate();
  const open = (isOpen: boolean) =>
    void navigate({ search: isOpen ? { add: 'true' } : {}, replace: true, resetScroll: false });
  const query = useRead('GET /admin/price-lists', {});
  return (
    <Page
      title={words.title}
      lead={words.lead}
      actions={mayWrite && <Button look="primary" icon="plus" label={words.add} onClick={() => open(true)} />}
    >
      <PriceTabs />
      <Loaded query={query} height={240}>
        {({ items }) => (
          <section className="card">
            {items.length === 0 ? <Empty>{words.none}</Empty> : <Lists items={items} />}
          </section>
        )}
      </Loaded>
      {add === 'true' && mayWrite && <AddDialog onClose={() => open(false)} />}
    </Page>
  );
}

function Lists({ items }: { readonly items: readonly AdminPriceListSummary[] }) {
  const { messages, language } = useLanguage();
  const { lists: words } = messages.selling;
  const columns: Column<AdminPriceListSummary>[] = [
    {
      id: 'name',
      head: messages.common.name,
      cell: ({ id, name }) => (
        <Link to="/admin/prices/lists/$listId" params={{ listId: id }}>
          {name}
        </Link>
      ),
    },
    { id: 'id', head: messages.common.id, cell: ({ id }) => <code>{id}</code> },
    {
      id: 'everything',
      head: words.everything,
      isNumber: true,
      cell: ({ factor }) => factor && `× ${factor}`,
    },
    { id: 'rules', head: words.rules, isNumber: true, cell: ({ rule_count: count }) => formatCount(count, language) },
    {
      id: 'accounts',
      head: words.accounts,
      cell: ({ account_names: names, account_count: count }) =>
        count === 0 ? <None /> : words.named(names.join(', '), count - names.length),
    },
    { id: 'created', head: messages.common.created, isHidden: true, cell: ({ created_at: at }) => <Time at={at} /> },
  ];
  return (
    <Table label={words.title} name="price-lists" columns={columns} rows={items} keyOf={({ id }) => id} isLinked />
  );
}

function AddDialog({ onClose }: { readonly onClose: () => void }) {
  const { selling, common } = useMessages();
  const { lists: words } = selling;
  const [name, setName] = useState('');
  const [typedId, setId] = useState('');
  const [factor, setFactor] = useState('');
  const navigate = useNavigate();
  const create = useChange('POST /admin/price-lists', ['GET /admin/price-lists', 'GET /admin/audit']);
  const about = (field: string) => (create.error instanceof ApiError ? create.error.about(field) : undefined);
  const id = typedId || idOf(name);
  const open = () => void navigate({ to: '/admin/prices/lists/$listId', params: { listId: id }, search: {} });
  if (create.data && create.data.warnings.length > 0)
    return <BelowCost title={words.add} of={create.data.warnings} onClose={open} />;
  return (
    <FormDialog
      title={words.add}
      submit={common.create}
      isReady={name.trim() !== '' && id !== ''}
      change={create}
      onClose={onClose}
      onSubmit={() =>
        create.mutate(
          {
            body: {
              id,
              name: name.trim(),
              ...(factor.trim() !== '' && { rules: [{ model: '*', factor: factor.trim() }] }),
            },
          },
          { onSuccess: ({ warnings }) => warnings.length === 0 && open() },
        )
      }
    >
      <TextField label={common.name} error={about('name')} maxLength={200} value={name} onType={setName} />
      <TextField label={common.id} hint={words.idHint} error={about('id')} maxLength={64} value={id} onType={setId} />
      <TextField
        label={words.factorAll}
        aside={common.optional}
        hint={words.factorHint}
        error={about('rules[0].factor')}
        inputMode="decimal"
        placeholder="0.9"
        value={factor}
        onType={setFactor}
      />
    </FormDialog>
  );
}

const idOf = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replace(/[^a-z\d]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 64);
