import { getRouteApi } from '@tanstack/react-router';
import { useMay, useRead } from '../../api/queries';
import { Button } from '../../components/button';
import { Select, TextField } from '../../components/fields';
import { Notice, Page } from '../../components/page';
import { Empty, Failure, Loaded, Skeleton } from '../../components/states';
import { useMessages } from '../../messages/language';
import { lastDays, PriceTabs } from './price-parts';
import { useOrigin } from './proposals';
import { SimulationResult, useSimulation } from './simulation-result';

const route = getRouteApi('/shell/admin/prices/simulation');
const RESULT_HEIGHT = 480;

/** Charges past usage again, at the prices of a proposal or of a price list. */
export function SimulationPage() {
  const { selling, common } = useMessages();
  const { simulation: words } = selling;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const mayRun = useMay('admin:write');
  const proposals = useRead('GET /admin/price-proposals', {});
  const lists = useRead('GET /admin/price-lists', {});
  const originOf = useOrigin();
  const simulate = useSimulation();
  const days = lastDays();
  const { from = days.from, to = days.to, proposal, list } = search;
  const set = (part: Partial<typeof search>) => {
    simulate.reset();
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true, resetScroll: false });
  };
  const choose = (value: string) => {
    const [kind, id] = [value.slice(0, 1), value.slice(1)];
    set({ proposal: kind === 'p' ? id : undefined, list: kind === 'l' ? id : undefined });
  };
  const body = { from, to, ...(proposal === undefined ? list !== undefined && { list } : { proposal }) };
  const open = (proposals.data?.items ?? []).filter(({ state, id }) => state === 'open' || id === proposal);
  return (
    <Page title={words.title} lead={words.lead}>
      <PriceTabs />
      <Loaded query={proposals} height={62}>
        {() => (
          <form
            className="filters"
            aria-label={words.title}
            onSubmit={(event) => {
              event.preventDefault();
              if (proposal !== undefined || list !== undefined) simulate.mutate({ body });
            }}
          >
            <Select
              label={words.prices}
              value={proposal === undefined ? (list === undefined ? '' : `l${list}`) : `p${proposal}`}
              onChange={(event) => choose(event.target.value)}
            >
              <option value="" />
              {open.map((each) => (
                <option key={each.id} value={`p${each.id}`}>
                  {words.ofProposal(originOf(each), each.factor)}
                </option>
              ))}
              {(lists.data?.items ?? []).map((each) => (
                <option key={each.id} value={`l${each.id}`}>
                  {words.ofList(each.name)}
                </option>
              ))}
            </Select>
            <TextField
              label={common.from}
              type="date"
              max={to}
              value={from}
              onChange={(event) => event.target.value && set({ from: event.target.value })}
            />
            <TextField
              label={common.to('UTC')}
              type="date"
              min={from}
              value={to}
              onChange={(event) => event.target.value && set({ to: event.target.value })}
            />
            {mayRun && (
              <Button
                type="submit"
                look="primary"
                label={words.run}
                disabled={simulate.isPending || (proposal === undefined && list === undefined)}
              />
            )}
          </form>
        )}
      </Loaded>
      {simulate.isPending ? (
        <Skeleton height={RESULT_HEIGHT} />
      ) : simulate.error ? (
        <Failure of={simulate.error} />
      ) : simulate.data ? (
        <SimulationResult of={simulate.data} />
      ) : (
        <section className="card">
          <Empty>{words.choose}</Empty>
        </section>
      )}
      {!mayRun && <Notice tone="info">{words.notForViewers}</Notice>}
    </Page>
  );
}
