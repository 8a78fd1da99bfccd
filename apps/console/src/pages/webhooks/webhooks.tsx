import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useChange, useRead } from '../../api/queries';
import type { ConsoleDelivery, ConsoleWebhookEndpoint } from '../../api/types';
import { Button } from '../../components/button';
import { FormDialog } from '../../components/confirm-dialog';
import { Check, TextField, useInputs } from '../../components/fields';
import { Icon } from '../../components/icons';
import { ListCard } from '../../components/list';
import { Menu, MenuItem } from '../../components/menu';
import { Card, Notice, Page } from '../../components/page';
import { SecretDialog } from '../../components/secret-dialog';
import { Empty, Failure, Loaded } from '../../components/states';
import { Status } from '../../components/status';
import { type Column, Table } from '../../components/table';
import { useMessages } from '../../messages/language';
import { Verifier } from './verifier';

const route = getRouteApi('/shell/webhooks');

type Doing = { readonly what: 'rotate' | 'remove'; readonly endpoint: ConsoleWebhookEndpoint };

export function WebhooksPage() {
  const { webhooks, shell } = useMessages();
  const [isCreating, setCreating] = useState(false);
  const [doing, setDoing] = useState<Doing | null>(null);
  const endpoints = useRead('GET /webhooks/endpoints', {});
  const close = () => setDoing(null);
  return (
    <Page
      title={shell.pages.webhooks}
      lead={webhooks.lead}
      actions={<Button look="primary" icon="plus" label={webhooks.create} onClick={() => setCreating(true)} />}
    >
      <Loaded query={endpoints} height={160}>
        {({ items }) => (
          <Card title={webhooks.endpoints} isFlush>
            {items.length === 0 ? (
              <Empty action={<Button label={webhooks.createFirst} onClick={() => setCreating(true)} />}>
                {webhooks.empty}
              </Empty>
            ) : (
              <Endpoints items={items} onDo={setDoing} />
            )}
          </Card>
        )}
      </Loaded>
      <Deliveries />
      <Verifier />
      {isCreating && <CreateDialog eventTypes={endpoints.data?.event_types ?? []} onClose={() => setCreating(false)} />}
      {doing?.what === 'rotate' && <RotateDialog endpoint={doing.endpoint} onClose={close} />}
      {doing?.what === 'remove' && <RemoveDialog endpoint={doing.endpoint} onClose={close} />}
    </Page>
  );
}

interface EndpointsProps {
  readonly items: readonly ConsoleWebhookEndpoint[];
  readonly onDo: (doing: Doing) => void;
}

function Endpoints({ items, onDo }: EndpointsProps) {
  const { webhooks, common } = useMessages();
  const test = useChange('POST /webhooks/endpoints/:endpoint_id/test', ['GET /webhooks/deliveries']);
  const columns: Column<ConsoleWebhookEndpoint>[] = [
    { id: 'url', head: common.address, cell: ({ url }) => <span className="break">{url}</span> },
    {
      id: 'events',
      head: webhooks.events,
      cell: ({ event_types: types }) => (types.length === 0 ? webhooks.allEvents : types.join(', ')),
    },
    { id: 'created', head: common.created, time: ({ created_at: at }) => at },
    {
      id: 'actions',
      head: common.actions,
      isActions: true,
      cell: (endpoint) => (
        <Menu label={`${common.actions}: ${endpoint.url}`} button={<Icon name="more" />}>
          <MenuItem onChoose={() => test.mutate({ params: { endpoint_id: endpoint.id }, body: {} })}>
            {webhooks.test}
          </MenuItem>
          <MenuItem onChoose={() => onDo({ what: 'rotate', endpoint })}>{webhooks.rotate}</MenuItem>
          <MenuItem onChoose={() => onDo({ what: 'remove', endpoint })}>{common.remove}</MenuItem>
        </Menu>
      ),
    },
  ];
  return (
    <>
      <Table label={webhooks.endpoints} name="endpoints" columns={columns} rows={items} />
      {test.data && (
        <p className="table-foot" role="status">
          {webhooks.testSent}
        </p>
      )}
      <Failure of={test.error} />
    </>
  );
}

interface CreateDialogProps {
  readonly eventTypes: readonly string[];
  readonly onClose: () => void;
}

function CreateDialog({ eventTypes, onClose }: CreateDialogProps) {
  const { webhooks, common } = useMessages();
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const create = useChange('POST /webhooks/endpoints', ['GET /webhooks/endpoints', 'GET /overview']);
  const form = useInputs({ url: '' }, create.error);
  const { url } = form.values;
  if (create.data) return <SecretDialog title={webhooks.secretTitle} secret={create.data.secret} onClose={onClose} />;
  return (
    <FormDialog
      title={webhooks.create}
      submit={common.create}
      isReady={url !== ''}
      change={create}
      onClose={onClose}
      onSubmit={() => create.mutate({ body: { url, event_types: chosen } })}
    >
      <TextField {...form.text('url')} label={common.address} hint={webhooks.urlHint} type="url" autoFocus />
      <fieldset className="field">
        <legend>{webhooks.events}</legend>
        <p className="hint">{webhooks.eventsHint}</p>
        {eventTypes.map((type) => (
          <Check
            key={type}
            label={<code>{type}</code>}
            checked={chosen.includes(type)}
            onChange={(event) =>
              setChosen(event.target.checked ? [...chosen, type] : chosen.filter((each) => each !== type))
            }
          />
        ))}
      </fieldset>
    </FormDialog>
  );
}

interface OfEndpoint {
  readonly endpoint: ConsoleWebhookEndpoint;
  readonly onClose: () => void;
}

function RotateDialog({ endpoint, onClose }: OfEndpoint) {
  const { webhooks } = useMessages();
  const rotate = useChange('POST /webhooks/endpoints/:endpoint_id/rotate-secret', ['GET /webhooks/endpoints']);
  if (rotate.data) return <SecretDialog title={webhooks.secretTitle} secret={rotate.data.secret} onClose={onClose} />;
  return (
    <FormDialog
      title={webhooks.rotate}
      change={rotate}
      onClose={onClose}
      onSubmit={() => rotate.mutate({ params: { endpoint_id: endpoint.id }, body: {} })}
    >
      <p className="break">{endpoint.url}</p>
      <p>{webhooks.rotateText}</p>
    </FormDialog>
  );
}

function RemoveDialog({ endpoint, onClose }: OfEndpoint) {
  const { webhooks, common } = useMessages();
  const remove = useChange('POST /webhooks/endpoints/:endpoint_id/remove', ['GET /webhooks/endpoints']);
  return (
    <FormDialog
      title={webhooks.removeTitle}
      submit={common.remove}
      isDangerous
      change={remove}
      onClose={onClose}
      send={{ params: { endpoint_id: endpoint.id }, body: {} }}
    >
      <p className="break">{endpoint.url}</p>
      <p>{webhooks.removeText}</p>
    </FormDialog>
  );
}

function Deliveries() {
  const { webhooks, common } = useMessages();
  const search = route.useSearch();
  const columns: Column<ConsoleDelivery>[] = [
    {
      id: 'event',
      head: webhooks.event,
      cell: (delivery) => (
        <Link to="/webhooks/deliveries/$deliveryId" params={{ deliveryId: delivery.id }}>
          {delivery.event_type}
        </Link>
      ),
    },
    { id: 'state', head: common.state, cell: ({ status }) => <Status of={status} /> },
    { id: 'url', head: common.address, cell: ({ url }) => <span className="clipped">{url}</span> },
    { id: 'answer', head: webhooks.lastAnswer, cell: (delivery) => delivery.last_status ?? delivery.last_error },
    { id: 'attempts', head: webhooks.attempts, isNumber: true, cell: ({ attempts }) => attempts },
    { id: 'next', head: webhooks.next, time: ({ next_attempt_at: at }) => at },
    { id: 'created', head: common.created, time: ({ created_at: at }) => at },
  ];
  return (
    <ListCard
      route="GET /webhooks/deliveries"
      input={{ query: search }}
      label={webhooks.deliveries}
      name="deliveries"
      columns={columns}
      isLinked
      head={<h2>{webhooks.deliveries}</h2>}
      empty={webhooks.noDeliveries}
    />
  );
}

/** For the page of one delivery too. */
export const Resent = () => <Notice tone="good">{useMessages().webhooks.resent}</Notice>;
