import { getRouteApi, Link } from '@tanstack/react-router';
import { useMay, useRead } from '../../api/queries';
import type { ConsoleModel } from '../../api/types';
import { Choice, TextField } from '../../components/fields';
import { Filters, useFilters } from '../../components/filters';
import { Page } from '../../components/page';
import { Empty, Loaded } from '../../components/states';
import { Status } from '../../components/status';
import { type Column, Table } from '../../components/table';
import { None } from '../../components/values';
import { useMessages } from '../../messages/language';
import { PriceText } from './price-text';

const route = getRouteApi('/shell/models');
const KINDS = ['video', 'image', 'text', 'embedding'] as const;

export function ModelsPage() {
  const { models, playground, common, shell } = useMessages();
  const search = route.useSearch();
  const { kind, name = '' } = search;
  const filters = useFilters(search);
  const query = useRead('GET /models', {});
  return (
    <Page title={shell.pages.models}>
      <Filters>
        <TextField {...filters.text('name')} label={common.name} />
        <Choice
          {...filters.choice('kind')}
          label={common.kind}
          choices={KINDS.map((each) => [each, playground.kinds[each]])}
        />
      </Filters>
      <Loaded query={query} height={640}>
        {({ items }) => {
          const shown = items.filter(
            (model) => (!kind || model.kind === kind) && model.id.toLowerCase().includes(name.toLowerCase()),
          );
          return (
            <section className="card">
              {shown.length === 0 ? (
                <Empty>{items.length === 0 ? models.empty : common.nothingFits}</Empty>
              ) : (
                <ModelTable items={shown} />
              )}
            </section>
          );
        }}
      </Loaded>
    </Page>
  );
}

function ModelTable({ items }: { readonly items: readonly ConsoleModel[] }) {
  const { models, playground, common, shell } = useMessages();
  const mayRun = useMay('tasks:run');
  const columns: Column<ConsoleModel>[] = [
    {
      id: 'name',
      head: common.model,
      cell: ({ id }) => (
        <Link to="/models/$model" params={{ model: id }}>
          {id}
        </Link>
      ),
    },
    { id: 'price', head: common.price, cell: (model) => <PriceText of={model} /> },
    { id: 'kind', head: common.kind, cell: ({ kind }) => playground.kinds[kind] },
    { id: 'modes', head: models.modes, isHidden: true, cell: ({ modes }) => modes.join(', ') },
    { id: 'state', head: common.state, cell: ({ available }) => <Status of={available ? 'serving' : 'off'} /> },
    {
      id: 'try',
      head: common.actions,
      isActions: true,
      cell: ({ id, available }) =>
        mayRun && available ? (
          <Link className="button small" to="/playground" search={{ model: id }} aria-label={`${models.try}: ${id}`}>
            {models.try}
          </Link>
        ) : (
          <None />
        ),
    },
  ];
  return <Table label={shell.pages.models} name="models" columns={columns} rows={items} isLinked />;
}
