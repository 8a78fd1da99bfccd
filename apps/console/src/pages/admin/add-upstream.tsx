import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useChange } from '../../api/queries';
import type { JsonObject } from '../../api/types';
import { FormDialog } from '../../components/confirm-dialog';
import { Choice, type Inputs, CodeArea, Segments, TextField, useInputs } from '../../components/fields';
import { useMessages } from '../../messages/language';
import { readObject } from './json-field';

const PROTOCOLS = ['chat', 'responses', 'messages', 'gemini'] as const;

/** Where vendors answer, and how; what a reply says of its cost, where it does. */
const VENDORS = [
  ['openai', 'OpenAI', 'responses', 'https://api.openai.com/v1'],
  ['anthropic', 'Anthropic', 'messages', 'https://api.anthropic.com/v1'],
  ['gemini', 'Google Gemini', 'gemini', 'https://generativelanguage.googleapis.com/v1beta'],
  ['xai', 'xAI', 'chat', 'https://api.x.ai/v1'],
  ['deepseek', 'DeepSeek', 'chat', 'https://api.deepseek.com/v1'],
  ['mistral', 'Mistral', 'chat', 'https://api.mistral.ai/v1'],
  ['moonshot', 'Moonshot', 'chat', 'https://api.moonshot.ai/v1'],
  ['qwen', 'Qwen', 'chat', 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1'],
  ['zai', 'Z.ai', 'chat', 'https://api.z.ai/api/paas/v4'],
  ['openrouter', 'OpenRouter', 'chat', 'https://openrouter.ai/api/v1'],
] as const;
const REPORTS: Readonly<Record<string, string | undefined>> = { openrouter: 'openrouter', xai: 'xai' };

/** `models`: one a line, our name, and after `=` that of the vendor where it is another. */
const EMPTY = { vendor: '', id: '', protocol: 'chat', base_url: '', key: '', models: '' };
type Draft = typeof EMPTY;

/** The models of a text, ours and theirs. */
function modelsOf(text: string): Record<string, string> {
  const pairs = text.split('\n').flatMap((line) => {
    const [ours = '', theirs = ours] = line.split('=').map((each) => each.trim());
    return ours === '' ? [] : [[ours, theirs || ours] as const];
  });
  return Object.fromEntries(pairs);
}

const bodyOf = ({ vendor, id, protocol, base_url: url, key, models }: Draft): JsonObject => ({
  kind: 'text',
  id: id.trim(),
  protocol,
  base_url: url.trim(),
  ...(key.trim() !== '' && { key: key.trim() }),
  models: modelsOf(models),
  // Another server at another address says nothing of its costs in these words.
  ...(VENDORS.some(([known, , , address]) => known === vendor && address === url.trim()) &&
    REPORTS[vendor] !== undefined && { reports_cost: REPORTS[vendor] }),
});

/** A new upstream: of text by its fields, of any kind as JSON. */
export function AddUpstreamDialog({ onClose }: { readonly onClose: () => void }) {
  const { upstreams: words } = useMessages().admin;
  const [way, setWay] = useState('fields');
  const [text, setText] = useState('{\n  "id": "",\n  "kind": "media",\n  "enabled": true\n}');
  const navigate = useNavigate();
  const create = useChange('POST /admin/upstreams', ['GET /admin/upstreams', 'GET /models', 'GET /admin/audit']);
  const form = useInputs(EMPTY, create.error);
  const isJson = way === 'json';
  const body = isJson ? readObject(text) : bodyOf(form.values);
  const isFull = [form.values.id, form.values.base_url, form.values.models].every((each) => each.trim() !== '');
  return (
    <FormDialog
      title={words.add}
      isReady={isJson ? body !== null : isFull}
      change={create}
      onClose={onClose}
      onSubmit={() =>
        body &&
        create.mutate(
          { body },
          { onSuccess: ({ id }) => void navigate({ to: '/admin/upstreams/$upstreamId', params: { upstreamId: id } }) },
        )
      }
    >
      <Segments
        label={words.form}
        choices={(['fields', 'json'] as const).map((value) => ({ value, label: words.forms[value] }))}
        value={way}
        onChoose={setWay}
      />
      {isJson ? (
        <CodeArea
          label={words.settings}
          hint={words.addHint}
          error={body ? undefined : words.wrongJson}
          rows={10}
          value={text}
          onType={setText}
        />
      ) : (
        <Fields form={form} />
      )}
    </FormDialog>
  );
}

function Fields({ form }: { readonly form: Inputs<Draft> }) {
  const { admin, common } = useMessages();
  const { upstreams: words } = admin;
  const { id: typedId, vendor: chosen } = form.values;
  const choose = (vendor: string) => {
    const known = VENDORS.find(([id]) => id === vendor);
    const isTyped = typedId !== '' && VENDORS.every(([id]) => id !== typedId);
    form.set({ vendor, ...(known && { id: isTyped ? typedId : known[0], protocol: known[2], base_url: known[3] }) });
  };
  return (
    <>
      <Choice
        label={common.vendor}
        value={chosen}
        onChoose={choose}
        none={words.otherVendor}
        choices={VENDORS.map(([id, name]) => [id, name])}
      />
      <TextField {...form.text('id')} label={common.name} hint={common.nameHint} />
      <Choice {...form.choice('protocol')} label={words.protocol} choices={PROTOCOLS.map((each) => [each, each])} />
      <TextField
        {...form.text('base_url')}
        label={words.address}
        type="url"
        placeholder="https://api.vendor.example/v1"
      />
      <TextField {...form.text('key')} label={common.key} hint={words.keyHint} type="password" autoComplete="off" />
      <CodeArea {...form.text('models')} label={common.models} hint={words.modelsHint} rows={4} />
    </>
  );
}
