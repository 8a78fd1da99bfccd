import { Link } from '@tanstack/react-router';
import { useChange, useMay, useRead } from '../../api/queries';
import type { AdminPrice, AdminUpstream, JsonObject, JsonValue } from '../../api/types';
import { Button } from '../../components/button';
import { Card, Notice } from '../../components/page';
import { Empty, Failure } from '../../components/states';
import { Status } from '../../components/status';
import { type Column, Table } from '../../components/table';
import { Money, None } from '../../components/values';
import { useMessages } from '../../messages/language';
import { amountFor, MILLION } from '../prices/price-parts';

interface Served {
  readonly model: string;
  readonly theirs: string;
}

export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The models of its settings; none where it serves every one. */
export const servedBy = ({ settings }: Pick<AdminUpstream, 'settings'>): readonly Served[] =>
  [settings['models'], settings['embedding_models']].flatMap((models) =>
    Object.entries(isObject(models) ? models : {}).map(([model, theirs]) => ({
      model,
      theirs: typeof theirs === 'string' ? theirs : model,
    })),
  );

/** What an upstream of text serves: whether the key works, and whether each model has a price and a known cost. */
export function UpstreamModels({ of: upstream }: { readonly of: AdminUpstream }) {
  const { common } = useMessages();
  const { upstreams: words } = useMessages().admin;
  const mayWrite = useMay('admin:write');
  const verify = useChange('POST /admin/upstreams/:upstream_id/verify');
  const served = servedBy(upstream);
  const proof = verify.data;
  return (
    <Card
      title={common.models}
      actions={
        mayWrite && (
          <>
            <Button
              look="small"
              label={verify.isPending ? words.checking : words.checkKey}
              disabled={verify.isPending}
              onClick={() => verify.mutate({ params: { upstream_id: upstream.id }, body: {} })}
            />
            <Link className="button small" to="/admin/prices/proposals" search={{ read: 'true' }}>
              {words.propose}
            </Link>
          </>
        )
      }
      isFlush
    >
      {(proof ?? verify.error) && (
        <div className="card-body">
          {proof && (
            <Notice tone={proof.ok ? 'good' : 'bad'}>
              {proof.ok ? words.keyWorks : proof.problem === 'wrong_key' ? words.keyFails : words.checkFailed}
              {[proof.message, proof.vendor?.message]
                .filter((said) => said !== null && said !== undefined)
                .map((said) => (
                  <p key={said} className="small-text" lang="en">
                    {said}
                  </p>
                ))}
            </Notice>
          )}
          <Failure of={verify.error} />
        </div>
      )}
      {served.length === 0 ? (
        <Empty>{words.allModels}</Empty>
      ) : (
        <Models
          upstream={upstream}
          served={served}
          listed={new Map((proof?.models ?? []).map(({ model, listed }) => [model, listed]))}
        />
      )}
    </Card>
  );
}

interface ModelsProps {
  readonly upstream: AdminUpstream;
  readonly served: readonly Served[];
  readonly listed: ReadonlyMap<string, boolean | null>;
}

function Models({ upstream, served, listed }: ModelsProps) {
  const { admin, common } = useMessages();
  const { upstreams: words } = admin;
  const { data } = useRead('GET /admin/prices', {});
  const priceOf = (model: string, unit: string): AdminPrice | undefined =>
    data?.items.find(
      (price) =>
        price.model === model && price.unit === unit && price.variant === 'default' && price.from_input_tokens === 0,
    );
  const amount = (price: AdminPrice | undefined) => (price ? <Money amount={amountFor(price, MILLION)} /> : <None />);
  const { costs } = upstream.settings;
  const hasCost = (model: string): boolean =>
    upstream.settings['reports_cost'] !== undefined || (isObject(costs) && costs[model] !== undefined);
  const columns: Column<Served>[] = [
    {
      id: 'model',
      head: common.model,
      cell: ({ model }) => (
        <Link to="/admin/prices/models/$model" params={{ model }}>
          {model}
        </Link>
      ),
    },
    { id: 'theirs', head: words.theirName, cell: ({ theirs }) => theirs },
    {
      id: 'listed',
      head: words.listed,
      cell: ({ model }) => {
        const isListed = listed.get(model);
        return isListed === undefined || isListed === null ? <None /> : isListed ? common.yes : common.no;
      },
    },
    {
      id: 'state',
      head: common.price,
      cell: ({ model }) => (data ? <Status of={priceOf(model, 'input_token') ? 'active' : 'unpriced'} /> : <None />),
    },
    { id: 'input', head: words.inputPrice, isNumber: true, cell: ({ model }) => amount(priceOf(model, 'input_token')) },
    {
      id: 'output',
      head: words.outputPrice,
      isNumber: true,
      cell: ({ model }) => amount(priceOf(model, 'output_token')),
    },
    {
      id: 'cost',
      head: common.cost,
      cell: ({ model }) => (hasCost(model) ? words.costKnown : <span className="muted">{common.unknown}</span>),
    },
  ];
  return (
    <Table label={common.models} name="upstream-models" columns={columns} rows={served} keyOf={({ model }) => model} />
  );
}
