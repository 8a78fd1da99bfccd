import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useChange, useMay, useRead } from '../../api/queries';
import type { AdminPriceListSummary } from '../../api/types';
import { Button } from '../../components/button';
import { FormDialog } from '../../components/confirm-dialog';
import { TextField, useInputs } from '../../components/fields';
import { Page } from '../../components/page';
import { Empty, Loaded } from '../../components/states';
import { type Column, Table } from '../../components/table';
import { None } from '../../components/values';
import { useMessages } from '../../messages/language';
import { BelowCost, PriceTabs } from './price-parts';

const route = getRouteApi('/shell/admin/prices/lists');

export function PriceListsPage() {
  const { selling } = useMessages();
  const { lists: words } = useMessages().selling;
  const mayWrite = useMay('admin:write');
  const { add } = route.useSearch();
  const navigate = route.useNavigate();
  const open = (isOpen: boolean) =>
    void navigate({ search: isOpen ? { add: 'true' } : {}, replace: true, resetScroll: false });
  const query = useRead('GET /admin/price-lists', {});
  return (
    <Page
      title={selling.tabs.lists}
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
  const messages = useMessages();
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
    { id: 'everything', head: words.everything, isNumber: true, cell: ({ factor }) => factor && `× ${factor}` },
    { id: 'rules', head: messages.common.rules, count: ({ rule_count: count }) => count },
    {
      id: 'accounts',
      head: words.accounts,
      cell: ({ account_names: names, account_count: count }) =>
        count === 0 ? <None /> : words.named(names.join(', '), count - names.length),
    },
    { id: 'created', head: messages.common.created, isHidden: true, time: ({ created_at: at }) => at },
  ];
  return <Table label={messages.selling.tabs.lists} name="price-lists" columns={columns} rows={items} isLinked />;
}

function AddDialog({ onClose }: { readonly onClose: () => void }) {
  const { selling, common } = useMessages();
  const { lists: words } = selling;
  const navigate = useNavigate();
  const create = useChange('POST /admin/price-lists', ['GET /admin/price-lists', 'GET /admin/audit']);
  const form = useInputs({ name: '', id: '', factor: '' }, create.error);
  const [name, factor] = [form.values.name.trim(), form.values.factor.trim()];
  const id = form.values.id || idOf(name);
  const open = () => void navigate({ to: '/admin/prices/lists/$listId', params: { listId: id }, search: {} });
  if (create.data && create.data.warnings.length > 0)
    return <BelowCost title={words.add} of={create.data.warnings} onClose={open} />;
  return (
    <FormDialog
      title={words.add}
      submit={common.create}
      isReady={name !== '' && id !== ''}
      change={create}
      onClose={onClose}
      onSubmit={() =>
        create.mutate(
          { body: { id, name, ...(factor !== '' && { rules: [{ model: '*', factor }] }) } },
          { onSuccess: ({ warnings }) => warnings.length === 0 && open() },
        )
      }
    >
      <TextField {...form.text('name')} label={common.name} maxLength={200} />
      <TextField {...form.text('id')} label={common.id} hint={common.nameHint} maxLength={64} value={id} />
      <TextField
        {...form.text('factor', 'rules[0].factor')}
        label={words.factorAll}
        aside={common.optional}
        hint={words.factorHint}
        inputMode="decimal"
        placeholder="0.9"
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
