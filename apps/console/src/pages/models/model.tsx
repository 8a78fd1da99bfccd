import { getRouteApi, Link } from '@tanstack/react-router';
import { useMay, useRead } from '../../api/queries';
import type { ConsoleModel, ModelField } from '../../api/types';
import { Card, Facts, Page } from '../../components/page';
import { Loaded } from '../../components/states';
import { Status } from '../../components/status';
import { type Column, Table } from '../../components/table';
import { Money, None } from '../../components/values';
import { formatCount } from '../../format/number';
import { useLanguage, useMessages } from '../../messages/language';
import { UnitText } from './price-text';

const route = getRouteApi('/shell/models/$model');

export function ModelPage() {
  const { models, modelSummaries } = useMessages();
  const { model: id } = route.useParams();
  const mayRun = useMay('tasks:run');
  const query = useRead('GET /models/:model', { params: { model: id } });
  return (
    <Page
      title={id}
      lead={query.data && (modelSummaries[query.data.summary] ?? query.data.summary)}
      actions={
        mayRun && (
          <Link className="button primary" to="/playground" search={{ model: id }}>
            {models.try}
          </Link>
        )
      }
    >
      <Loaded query={query} height={640}>
        {(model) => <ModelDetails of={model} />}
      </Loaded>
    </Page>
  );
}

function ModelDetails({ of: model }: { readonly of: ConsoleModel }) {
  const { models, common, playground, modelRules, shell } = useMessages();
  return (
    <div className="stack">
      <Card title={common.details}>
        <Facts
          of={[
            [common.state, <Status key="state" of={model.available ? 'serving' : 'off'} />],
            [common.kind, playground.kinds[model.kind]],
            [models.modes, model.modes.join(', ')],
            [common.address, <code key="path">{model.paths.join(', ')}</code>],
            [
              models.lifetime,
              model.result_lifetime_seconds === null
                ? models.lifetimeStays
                : common.seconds(model.result_lifetime_seconds),
            ],
          ]}
        />
      </Card>
      <Card title={shell.pages.prices} isFlush>
        <Variants of={model} />
      </Card>
      {model.fields.length > 0 && (
        <Card title={models.fields} isFlush>
          <Fields of={model} />
        </Card>
      )}
      {model.fields.length > 0 && (
        <Card title={common.rules}>
          {model.rules.length === 0 ? (
            <p className="muted">{models.noRules}</p>
          ) : (
            <ul className="bullets">
              {model.rules.map((rule) => (
                <li key={rule}>{modelRules[rule] ?? rule}</li>
              ))}
            </ul>
          )}
        </Card>
      )}
    </div>
  );
}

function Variants({ of: model }: { readonly of: ConsoleModel }) {
  const { messages, language } = useLanguage();
  const { models, shell, common } = messages;
  const columns: Column<ConsoleModel['variants'][number]>[] = [
    {
      id: 'variant',
      head: common.variant,
      cell: ({ variant, from_input_tokens: from = 0 }) => {
        const isPlain = variant === '' || variant === 'default';
        if (isPlain && from === 0) return <None />;
        return [...(isPlain ? [] : [variant]), ...(from === 0 ? [] : [models.band(formatCount(from, language))])].join(
          ' · ',
        );
      },
    },
    {
      id: 'unit',
      head: models.unit,
      cell: ({ unit, price }) => <UnitText unit={unit} perQuantity={price?.per_quantity ?? 1} />,
    },
    {
      id: 'price',
      head: common.price,
      isNumber: true,
      cell: ({ price }) =>
        price ? (
          <Money amount={price.amount} unit={price.currency} form="full" />
        ) : (
          <span className="muted">{models.notSold}</span>
        ),
    },
  ];
  return (
    <Table
      label={shell.pages.prices}
      name="variants"
      columns={columns}
      rows={model.variants}
      keyOf={({ variant, unit, from_input_tokens: from = 0 }) => `${variant} ${unit} ${from}`}
    />
  );
}

function Fields({ of: model }: { readonly of: ConsoleModel }) {
  const { models, fieldNotes, fieldValues } = useMessages();
  const columns: Column<ModelField>[] = [
    {
      id: 'field',
      head: models.field,
      cell: ({ name, required }) => (
        <>
          <code>{name}</code>
          {required && <span className="muted tiny"> {models.required}</span>}
        </>
      ),
    },
    { id: 'type', head: models.type, cell: ({ type }) => fieldValues(type) },
    {
      id: 'default',
      head: models.default,
      cell: ({ default: value }) => (value === null ? <None /> : <code>{JSON.stringify(value)}</code>),
    },
    { id: 'allowed', head: models.allowed, cell: ({ allowed }) => fieldValues(allowed) },
    { id: 'note', head: models.note, cell: ({ note }) => fieldNotes[note] ?? note },
  ];
  return (
    <Table
      label={models.fields}
      name="fields"
      columns={columns}
      rows={[...model.fields].sort((one, other) => one.order - other.order)}
      keyOf={({ name }) => name}
    />
  );
}
