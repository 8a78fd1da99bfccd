import { getRouteApi, Link } from '@tanstack/react-router';
import { type Answer } from '../../api/call';
import { useChange, useRead } from '../../api/queries';
import { Button } from '../../components/button';
import { Card, Facts, Page } from '../../components/page';
import { Failure, Loaded } from '../../components/states';
import { Status } from '../../components/status';
import { type Column, TableCard } from '../../components/table';
import { Id, Time } from '../../components/values';
import { formatSeconds } from '../../format/time';
import { useLanguage, useMessages } from '../../messages/language';
import { Resent } from './webhooks';

const route = getRouteApi('/shell/webhooks/deliveries/$deliveryId');

type Delivery = Answer<'GET /webhooks/deliveries/:delivery_id'>;

export function DeliveryPage() {
  const { webhooks } = useMessages();
  const { deliveryId } = route.useParams();
  const query = useRead('GET /webhooks/deliveries/:delivery_id', { params: { delivery_id: deliveryId } });
  const resend = useChange('POST /webhooks/deliveries/:delivery_id/resend', [
    'GET /webhooks/deliveries/:delivery_id',
    'GET /webhooks/deliveries',
  ]);
  return (
    <Page
      title={query.data?.event_type ?? webhooks.deliveries}
      actions={
        query.data && (
          <Button
            label={webhooks.resend}
            disabled={resend.isPending}
            onClick={() => resend.mutate({ params: { delivery_id: deliveryId }, body: {} })}
          />
        )
      }
    >
      {resend.data && <Resent />}
      <Failure of={resend.error} />
      <Loaded query={query} height={420}>
        {(delivery) => <DeliveryDetails of={delivery} />}
      </Loaded>
    </Page>
  );
}

function DeliveryDetails({ of: delivery }: { readonly of: Delivery }) {
  const { messages, language } = useLanguage();
  const { webhooks, common } = messages;
  const columns: Column<Delivery['log'][number]>[] = [
    { id: 'attempt', head: webhooks.attempt, cell: ({ attempt }) => attempt },
    {
      id: 'answer',
      head: webhooks.answer,
      cell: ({ status, error }) => <span className="break">{status ?? error ?? webhooks.noAnswer}</span>,
    },
    {
      id: 'took',
      head: common.took,
      isNumber: true,
      cell: ({ duration_ms: ms }) => formatSeconds(ms / 1000, language),
    },
    { id: 'time', head: common.time, cell: ({ created_at: at }) => <Time at={at} absolute /> },
  ];
  return (
    <div className="stack">
      <Card title={common.details}>
        <Facts
          of={[
            [common.state, <Status key="state" of={delivery.status} />],
            [common.address, delivery.url],
            ['ID', <Id key="id" id={delivery.id} name={common.id} whole />],
            delivery.task_id !== null && [
              common.task,
              <Link key="task" to="/tasks/$taskId" params={{ taskId: delivery.task_id }}>
                {delivery.task_id}
              </Link>,
            ],
            [webhooks.next, delivery.next_attempt_at && <Time key="next" at={delivery.next_attempt_at} />],
            [common.created, <Time key="created" at={delivery.created_at} absolute />],
          ]}
        />
      </Card>
      <TableCard
        label={webhooks.log}
        name="attempts"
        columns={columns}
        rows={delivery.log}
        keyOf={(each) => String(each.attempt)}
        empty={webhooks.noAttempts}
      />
    </div>
  );
}
