import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay, useRead } from '../../api/queries';
import type { AdminPriceList, AdminPriceRule } from '../../api/types';
import { Button } from '../../components/button';
import { Card, Page } from '../../components/page';
import { Empty, Loaded } from '../../components/states';
import { Status } from '../../components/status';
import { type Column, Table } from '../../components/table';
import { Id, Money } from '../../components/values';
import { formatCount, unitName } from '../../format/number';
import { useLanguage, useMessages } from '../../messages/language';
import { AssignDialog } from './assign-dialog';
import { lastDays, MILLION, PriceTabs, tierName } from './price-parts';
import { RuleDialog } from './rule-dialog';

const route = getRouteApi('/shell/admin/prices/lists/$listId');
export function PriceListPage() {
  const { listId } = route.useParams();
  const { common } = useMessages();
  const { lists: words } = useMessages().selling;
  const mayWrite = useMay('admin:write');
  const [doing, setDoing] = useState<'rule' | 'assign' | null>(null);
  const query = useRead('GET /admin/price-lists/:list_id', { params: { list_id: listId } });
  const close = () => setDoing(null);
  return (
    <Page
      title={query.data?.name ?? listId}
      actions={
        <>
          <Link className="button" to="/admin/prices/simulation" search={{ ...lastDays(), list: listId }}>
            {common.simulateMonth}
          </Link>
          {mayWrite && (
            <>
              <Button label={words.assign} onClick={() => setDoing('assign')} />
              <Button look="primary" icon="plus" label={words.addRule} onClick={() => setDoing('rule')} />
            </>
          )}
        </>
      }
    >
      <PriceTabs />
      <Loaded query={query} height={420}>
        {(list) => (
          <div className="stack">
            <Card title={common.rules} isFlush>
              {list.rules.length === 0 ? <Empty>{words.noRules}</Empty> : <Rules of={list} />}
            </Card>
            <Card title={words.accountsOf(list.account_count)} isFlush>
              {list.accounts.length === 0 ? <Empty>{words.noAccounts}</Empty> : <Accounts of={list} />}
            </Card>
          </div>
        )}
      </Loaded>
      {doing === 'rule' && <RuleDialog listId={listId} onClose={close} />}
      {doing === 'assign' && <AssignDialog list={listId} onClose={close} />}
    </Page>
  );
}

const scopeOf = ({ model, unit, variant, from_input_tokens: from }: AdminPriceRule): string =>
  [model, unit, variant, from].join(' ');

/** Which rules of the same scope hold: the newest that has begun. Rules come newest first. */
function statesOf(rules: readonly AdminPriceRule[]): ReadonlyMap<string, 'active' | 'future' | 'past'> {
  const held = new Set<string>();
  return new Map(
    rules.map((rule) => {
      if (Date.parse(rule.effective_from) > Date.now()) return [rule.id, 'future'];
      const isFirst = !held.has(scopeOf(rule));
      held.add(scopeOf(rule));
      return [rule.id, isFirst ? 'active' : 'past'];
    }),
  );
}

function Rules({ of: { rules } }: { readonly of: AdminPriceList }) {
  const { messages, language } = useLanguage();
  const { selling, common, admin, money } = messages;
  const { lists: words } = selling;
  const states = statesOf(rules);
  const columns: Column<AdminPriceRule>[] = [
    { id: 'model', head: common.model, cell: ({ model }) => (model === '*' ? words.everything : model) },
    {
      id: 'price',
      head: words.scope,
      cell: ({ unit, variant, from_input_tokens: from }) =>
        [
          unit === undefined ? words.allUnits : unitName(money.units, unit, MILLION),
          ...(variant === undefined ? [] : [tierName(selling.tiers, variant)]),
          ...(from === undefined || from === 0 ? [] : [selling.band(formatCount(from, language))]),
        ].join(' · '),
    },
    {
      id: 'rule',
      head: words.rule,
      isNumber: true,
      cell: ({ factor, amount, per_quantity: quantity = 1 }) =>
        amount === undefined ? (
          `× ${factor ?? ''}`
        ) : (
          <>
            <Money amount={amount} />
            <span className="muted"> / {formatCount(quantity, language)}</span>
          </>
        ),
    },
    { id: 'state', head: common.state, cell: ({ id }) => <Status of={states.get(id) ?? 'past'} /> },
    { id: 'since', head: admin.prices.since, time: ({ effective_from: at }) => at },
    { id: 'by', head: admin.prices.by, isHidden: true, cell: ({ created_by: by }) => by },
  ];
  return <Table label={common.rules} name="price-rules" columns={columns} rows={rules} />;
}

function Accounts({ of: { accounts } }: { readonly of: AdminPriceList }) {
  const { selling, common } = useMessages();
  const { lists: words } = selling;
  const mayWrite = useMay('admin:write');
  const [leaving, setLeaving] = useState<AdminPriceList['accounts'][number] | null>(null);
  const columns: Column<AdminPriceList['accounts'][number]>[] = [
    {
      id: 'account',
      head: common.account,
      cell: ({ id, name }) => (
        <Link to="/admin/accounts/$accountId" params={{ accountId: id }}>
          {name}
        </Link>
      ),
    },
    { id: 'id', head: common.id, cell: ({ id }) => <Id id={id} name={common.id} /> },
    {
      id: 'change',
      head: common.actions,
      isActions: true,
      cell: (account) =>
        mayWrite && (
          <Button
            look="small"
            label={common.change}
            aria-label={`${common.change}: ${account.name}`}
            onClick={() => setLeaving(account)}
          />
        ),
    },
  ];
  return (
    <>
      <Table label={words.accounts} name="list-accounts" columns={columns} rows={accounts} />
      {leaving && <AssignDialog account={leaving} onClose={() => setLeaving(null)} />}
    </>
  );
}
