import { useNavigate } from '@tanstack/react-router';
import { useChange, useRead, useSession } from '../../api/queries';
import type { AdminNewPriceProposal } from '../../api/types';
import { FormDialog } from '../../components/confirm-dialog';
import {
  beginning,
  Choice,
  CodeArea,
  Field,
  type Inputs,
  Segments,
  TextField,
  useInputs,
} from '../../components/fields';
import { useMessages } from '../../messages/language';

/** Where the lists of each form are published. */
const ADDRESSES = {
  litellm: 'https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json',
  'models.dev': 'https://models.dev/api.json',
  openrouter: 'https://openrouter.ai/api/v1/models',
} as const;

type Source = keyof typeof ADDRESSES | 'upstream';
type Place = 'url' | 'file' | 'text';

/** The texts that proposals of this tab were read from, so that they can be read again. */
const texts = new Map<string, string>();
export const textOf = (proposalId: string): string | undefined => texts.get(proposalId);
export const keepText = (proposalId: string, text: string | undefined): void => {
  if (text !== undefined) texts.set(proposalId, text);
};

interface Draft {
  readonly source: Source;
  readonly place: Place;
  readonly url: string;
  readonly text: string;
  readonly upstream: string;
  readonly factor: string;
  readonly rounding: string;
  /** Local time of the reader, as the field gives it; empty: when it is applied. */
  readonly from: string;
}

function bodyOf({ source, place, url, text, upstream, factor, rounding, from }: Draft): AdminNewPriceProposal {
  const where = source === 'upstream' ? { upstream } : place === 'url' ? { url: url.trim() } : { file: text };
  return {
    source,
    ...where,
    ...(factor.trim() !== '' && { factor: factor.trim() }),
    ...(rounding !== 'none' && { rounding: rounding === 'cent' ? 'cent' : Number(rounding) }),
    ...beginning(from),
  };
}

interface ReadListDialogProps {
  /** Whose own list is to be read. */
  readonly upstream?: string;
  readonly onClose: () => void;
}

/** Asks where a list of prices is and how its prices become ours, and reads it. */
export function ReadListDialog({ upstream = '', onClose }: ReadListDialogProps) {
  const { common } = useMessages();
  const { proposals: words } = useMessages().selling;
  const { currency } = useSession();
  const navigate = useNavigate();
  const read = useChange('POST /admin/price-proposals', ['GET /admin/price-proposals', 'GET /admin/audit']);
  const first: Draft = {
    source: upstream === '' ? 'litellm' : 'upstream',
    place: 'url',
    url: ADDRESSES.litellm,
    text: '',
    upstream,
    factor: '',
    rounding: 'none',
    from: '',
  };
  const form = useInputs(first, read.error);
  const body = bodyOf(form.values);
  return (
    <FormDialog
      title={words.add}
      submit={read.isPending ? words.reading : words.read}
      isReady={Boolean(body.url ?? body.file ?? body.upstream) && (currency === 'USD' || form.values.factor !== '')}
      change={read}
      onClose={onClose}
      onSubmit={() =>
        read.mutate(
          { body },
          {
            onSuccess: ({ id }) => {
              keepText(id, body.file);
              void navigate({ to: '/admin/prices/proposals/$proposalId', params: { proposalId: id } });
            },
          },
        )
      }
    >
      <Segments
        label={words.source}
        choices={(['litellm', 'models.dev', 'openrouter', 'upstream'] as const).map((value) => ({
          value,
          label: words.sources[value],
        }))}
        value={form.values.source}
        onChoose={(value) => {
          const source = value as Source;
          form.set({ source, ...(source !== 'upstream' && { url: ADDRESSES[source] }) });
        }}
      />
      <Place form={form} />
      <TextField
        {...form.text('factor')}
        label={common.factor}
        hint={currency === 'USD' ? words.factorHint : words.factorRate(currency)}
        inputMode="decimal"
        placeholder="1"
      />
      <Choice
        {...form.choice('rounding')}
        label={words.rounding}
        choices={(['none', 'cent', '2', '3'] as const).map((value) => [value, words.roundings[value]])}
      />
      <TextField {...form.text('from', 'effective_from')} label={words.from} type="datetime-local" />
    </FormDialog>
  );
}

function Place({ form }: { readonly form: Inputs<Draft> }) {
  const { common } = useMessages();
  const { proposals: words } = useMessages().selling;
  const { source, place } = form.values;
  if (source === 'upstream') return <UpstreamField {...form.choice('upstream')} />;
  return (
    <>
      <Segments
        label={words.place}
        choices={(['url', 'file', 'text'] as const).map((value) => ({ value, label: words.places[value] }))}
        value={place}
        onChoose={(value) => form.set({ place: value as Place, text: '' })}
      />
      {place === 'url' && <TextField {...form.text('url')} label={words.url} hint={words.urlHint} type="url" />}
      {place === 'file' && (
        <Field label={common.file} hint={words.fileHint} error={form.about('file')}>
          {(control) => (
            <input
              {...control}
              type="file"
              accept=".json,application/json"
              onChange={(event) => void event.target.files?.[0]?.text().then((text) => form.set({ text }))}
            />
          )}
        </Field>
      )}
      {place === 'text' && (
        <CodeArea {...form.text('text', 'file')} label={words.text} hint={words.fileHint} rows={6} />
      )}
    </>
  );
}

interface UpstreamFieldProps {
  readonly value: string;
  readonly error?: string | undefined;
  readonly hint?: string;
  /** Only those that can be changed here. */
  readonly isEditable?: boolean;
  readonly onChoose: (upstream: string) => void;
}

/** Chooses one of the text upstreams. */
export function UpstreamField({ value, error, hint, isEditable = false, onChoose }: UpstreamFieldProps) {
  const { common } = useMessages();
  const { proposals: words } = useMessages().selling;
  const { data } = useRead('GET /admin/upstreams', {});
  const upstreams = (data?.items ?? []).filter(
    ({ kind, source }) => kind === 'text' && (!isEditable || source === 'database'),
  );
  return (
    <Choice
      label={common.upstream}
      hint={data && upstreams.length === 0 ? words.noUpstream : (hint ?? words.upstreamHint)}
      error={error}
      value={value}
      onChoose={onChoose}
      none=""
      choices={upstreams.map(({ id }) => [id, id])}
    />
  );
}
