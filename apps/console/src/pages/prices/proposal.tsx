import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import type { ReadRoute } from '../../api/call';
import { useChange, useMay, useRead } from '../../api/queries';
import type { AdminNewPriceProposal, AdminPriceProposal, AdminPriceProposalDetails } from '../../api/types';
import { Button } from '../../components/button';
import { FormDialog } from '../../components/confirm-dialog';
import { Dialog } from '../../components/dialog';
import { Card, Facts, Notice, Page } from '../../components/page';
import { Failure, Loaded, Skeleton } from '../../components/states';
import { Status } from '../../components/status';
import { Time } from '../../components/values';
import { formatCount } from '../../format/number';
import { useLanguage, useMessages } from '../../messages/language';
import { CostsDialog } from './costs-dialog';
import { Others, RenameDialog } from './entry-names';
import { FEWER_DAYS, lastDays, PriceTabs } from './price-parts';
import { ProposalItems } from './proposal-items';
import { statusOf, useOrigin } from './proposals';
import { SimulationFailed, SimulationResult, useSimulation } from './simulation-result';
import { keepText, textOf } from './read-list';

const route = getRouteApi('/shell/admin/prices/proposals/$proposalId');
const TOUCHED: readonly ReadRoute[] = [
  'GET /admin/price-proposals',
  'GET /admin/price-proposals/:proposal_id',
  'GET /admin/prices',
  'GET /models',
  'GET /admin/audit',
];

/** What a list proposes: choose, apply after a yes, take back. */
export function ProposalPage() {
  const { proposalId } = route.useParams();
  const { proposals: words } = useMessages().selling;
  const query = useRead('GET /admin/price-proposals/:proposal_id', { params: { proposal_id: proposalId } });
  return (
    <Page title={words.one}>
      <PriceTabs />
      <Loaded query={query} height={720}>
        {(proposal) => <Proposal key={proposal.id} of={proposal} />}
      </Loaded>
    </Page>
  );
}

/** What made a proposal, to make it anew; undefined where its file is gone. */
function asked({ id, source, origin, factor, rounding, effective_from: from }: AdminPriceProposal) {
  const text = textOf(id);
  const isFile = origin === 'file';
  if (isFile && text === undefined) return undefined;
  const place = isFile ? { file: text } : source === 'upstream' ? { upstream: origin } : { url: origin };
  const isToCome = from !== null && Date.parse(from) > Date.now();
  return {
    source,
    factor,
    ...place,
    ...(rounding !== null && { rounding }),
    ...(isToCome && { effective_from: from }),
  } as AdminNewPriceProposal;
}

/** Reads the list of a proposal again, and shows what it says now. */
function useReadAgain(proposal: AdminPriceProposal) {
  const read = useChange('POST /admin/price-proposals', ['GET /admin/price-proposals', 'GET /admin/audit']);
  const navigate = useNavigate();
  const body = asked(proposal);
  return {
    mayRead: body !== undefined,
    isPending: read.isPending,
    error: read.error,
    read: (note: 'renamed' | 'costs') => {
      if (!body) return;
      read.mutate(
        { body },
        {
          onSuccess: ({ id }) => {
            keepText(id, body.file);
            void navigate({
              to: '/admin/prices/proposals/$proposalId',
              params: { proposalId: id },
              search: note === 'costs' ? { costs: 'true' } : {},
              replace: true,
            });
          },
        },
      );
    },
  };
}

function Proposal({ of: proposal }: { readonly of: AdminPriceProposalDetails }) {
  const { proposals: words } = useMessages().selling;
  const mayWrite = useMay('admin:write');
  const { costs } = route.useSearch();
  const isOpen = proposal.state === 'open' && mayWrite;
  const [chosen, setChosen] = useState<ReadonlySet<string>>(
    () => new Set(isOpen ? proposal.items.flatMap((item) => (item.ticked ? item.id : [])) : []),
  );
  const [doing, setDoing] = useState<'apply' | 'costs' | 'simulate' | null>(null);
  const [renaming, setRenaming] = useState<string | null>(null);
  const [isRenamed, setRenamed] = useState(false);
  const again = useReadAgain(proposal);
  const undone = useChange('POST /admin/price-proposals/:proposal_id/undo', TOUCHED);
  const apply = useChange('POST /admin/price-proposals/:proposal_id/apply', TOUCHED);
  const close = () => setDoing(null);
  const picked = useMemo(() => proposal.items.filter(({ id }) => chosen.has(id)), [proposal.items, chosen]);
  const unknown = picked.filter(({ proposed }) => proposed.some(({ cost }) => cost === null)).length;
  return (
    <div className="stack">
      <Done apply={apply} undone={undone} />
      {costs === 'true' && isOpen && <Notice tone="good">{words.costsTaken}</Notice>}
      {isOpen && isRenamed && (
        <Notice tone="info">
          <div className="row between">
            <span>{again.mayRead ? words.againText : words.againFile}</span>
            {again.mayRead && <Again of={again} />}
          </div>
        </Notice>
      )}
      {isOpen && unknown > 0 && (
        <Notice tone="info">
          <div className="row between">
            <span className="prose">{words.costsUnknown(unknown)}</span>
            <Button look="small" label={words.takeCosts} onClick={() => setDoing('costs')} />
          </div>
        </Notice>
      )}
      <Failure of={again.error} />
      <Terms of={proposal} undone={undone} />
      <ProposalItems
        of={proposal}
        chosen={chosen}
        isOpen={isOpen}
        onChoose={setChosen}
        onApply={() => setDoing('apply')}
        onSimulate={() => setDoing('simulate')}
        onRename={setRenaming}
      />
      {proposal.others > 0 && <Others of={proposal} onRename={isOpen ? setRenaming : undefined} />}
      {doing === 'apply' && <ApplyDialog of={proposal} chosen={picked} apply={apply} onClose={close} />}
      {doing === 'costs' && <CostsDialog items={picked} onClose={close} onDone={() => again.read('costs')} />}
      {doing === 'simulate' && <SimulationDrawer of={proposal} chosen={picked} onClose={close} />}
      {renaming !== null && (
        <RenameDialog
          source={proposal.source}
          id={renaming}
          onClose={() => setRenaming(null)}
          onDone={() => setRenamed(true)}
        />
      )}
    </div>
  );
}

interface SimulationDrawerProps {
  readonly of: AdminPriceProposalDetails;
  readonly chosen: AdminPriceProposalDetails['items'];
  readonly onClose: () => void;
}

/** What last month would have brought at the chosen prices. */
function SimulationDrawer({ of: proposal, chosen, onClose }: SimulationDrawerProps) {
  const { simulation: words } = useMessages().selling;
  const { mutate, data, error } = useSimulation();
  const bodyOf = (days?: number) => ({
    body: { ...lastDays(days), proposal: proposal.id, items: chosen.map(({ id }) => id) },
  });
  // As it was when it was opened: nothing below can be chosen meanwhile.
  useEffect(() => mutate(bodyOf()), [mutate, proposal.id, chosen]);
  return (
    <Dialog title={words.title} kind="drawer" onClose={onClose}>
      {data ? (
        <SimulationResult of={data} />
      ) : error ? (
        <SimulationFailed of={error} onFewer={() => mutate(bodyOf(FEWER_DAYS))} />
      ) : (
        <Skeleton height={480} />
      )}
    </Dialog>
  );
}

function Done({
  apply: { data: applied },
  undone: { data: undone },
}: {
  readonly apply: Apply;
  readonly undone: Undo;
}) {
  const { proposals: words } = useMessages().selling;
  if (undone) return <Notice tone="info">{words.undone(undone.added, undone.changed)}</Notice>;
  return applied ? <Notice tone="good">{words.applied(applied.added, applied.changed)}</Notice> : null;
}

function Again({ of: again }: { readonly of: ReturnType<typeof useReadAgain> }) {
  const { proposals: words } = useMessages().selling;
  return (
    <Button
      look="small"
      label={again.isPending ? words.reading : words.again}
      disabled={again.isPending}
      onClick={() => again.read('renamed')}
    />
  );
}

type Undo = ReturnType<typeof useChange<'POST /admin/price-proposals/:proposal_id/undo'>>;
type Apply = ReturnType<typeof useChange<'POST /admin/price-proposals/:proposal_id/apply'>>;

function Terms({ of: proposal, undone }: { readonly of: AdminPriceProposalDetails; readonly undone: Undo }) {
  const { messages, language } = useLanguage();
  const { selling, common, admin } = messages;
  const { proposals: words } = selling;
  const mayWrite = useMay('admin:write');
  const [isUndoing, setUndoing] = useState(false);
  const originOf = useOrigin();
  const { counts, rounding } = proposal;
  const roundingText =
    rounding === null
      ? words.roundings.none
      : rounding === 'cent'
        ? words.roundings.cent
        : words.roundingText(rounding);
  return (
    <Card
      title={originOf(proposal)}
      actions={
        proposal.state === 'applied' && mayWrite && <Button label={words.undo} onClick={() => setUndoing(true)} />
      }
    >
      <Facts
        of={[
          [common.state, <Status key="state" of={statusOf(proposal.state)} />],
          [common.factor, `× ${proposal.factor} · ${roundingText}`],
          [
            words.details,
            [
              words.counts(formatCount(counts.read, language), formatCount(counts.unchanged, language)),
              ...(counts.unlisted > 0 ? [words.unlisted(formatCount(counts.unlisted, language))] : []),
            ].join('. '),
          ],
          proposal.effective_from !== null && [
            admin.prices.since,
            <Time key="from" at={proposal.effective_from} absolute withZone />,
          ],
          [words.by, <By key="by" who={proposal.created_by} at={proposal.created_at} />],
          proposal.applied_at === null
            ? [words.expires, <Time key="expires" at={proposal.expires_at} absolute />]
            : [words.appliedBy, <By key="applied" who={proposal.applied_by ?? ''} at={proposal.applied_at} />],
          proposal.undone_at !== null && [
            words.undoneBy,
            <By key="undone" who={proposal.undone_by ?? ''} at={proposal.undone_at} />,
          ],
          [
            words.sha256,
            <code key="hash" className="break" title={proposal.sha256}>
              {proposal.sha256.slice(0, 16)}…
            </code>,
          ],
        ]}
      />
      {isUndoing && (
        <FormDialog
          title={words.undoTitle}
          submit={words.undo}
          isDangerous
          change={undone}
          onClose={() => setUndoing(false)}
          send={{ params: { proposal_id: proposal.id }, body: {} }}
        >
          <p>{words.undoText}</p>
        </FormDialog>
      )}
    </Card>
  );
}

const By = ({ who, at }: { readonly who: string; readonly at: string }) => (
  <>
    {who} · <Time at={at} absolute />
  </>
);

interface ApplyDialogProps {
  readonly of: AdminPriceProposalDetails;
  readonly chosen: AdminPriceProposalDetails['items'];
  readonly apply: Apply;
  readonly onClose: () => void;
}

function ApplyDialog({ of: proposal, chosen, apply, onClose }: ApplyDialogProps) {
  const { proposals: words } = useMessages().selling;
  const below = chosen.filter(({ flags }) => flags.includes('below_cost')).map(({ model }) => model ?? '');
  return (
    <FormDialog
      title={words.applyTitle(chosen.length)}
      submit={words.apply}
      isDangerous={below.length > 0}
      change={apply}
      onClose={onClose}
      send={{ params: { proposal_id: proposal.id }, body: { items: chosen.map(({ id }) => id) } }}
    >
      <p>{words.applyText}</p>
      {below.length > 0 && <Notice tone="warn">{words.applyBelow(below.join(', '))}</Notice>}
    </FormDialog>
  );
}
