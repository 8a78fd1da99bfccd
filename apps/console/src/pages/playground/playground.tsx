import { getRouteApi } from '@tanstack/react-router';
import { useRead } from '../../api/queries';
import type { ConsoleModel } from '../../api/types';
import { Select } from '../../components/fields';
import { Page } from '../../components/page';
import { Empty, Loaded } from '../../components/states';
import { useMessages } from '../../messages/language';
import { readStored, writeStored } from '../../preferences/stored';
import { MediaPlayground } from './media-playground';
import { TextPlayground } from './text-playground';

const route = getRouteApi('/shell/playground');
/** What a first visit begins with: cheap, and quick to make. */
const FIRST_MODEL = 'beta-2.5-preview';
const KINDS = ['video', 'image', 'text', 'embedding'] as const;

export function PlaygroundPage() {
  const { models: words, shell } = useMessages();
  const models = useRead('GET /models', {});
  return (
    <Page title={shell.pages.playground}>
      <Loaded query={models} height={560}>
        {({ items }) => (items.length === 0 ? <Empty>{words.empty}</Empty> : <Playground models={items} />)}
      </Loaded>
    </Page>
  );
}

function Playground({ models }: { readonly models: readonly ConsoleModel[] }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const wanted = [search.model, readStored('model'), FIRST_MODEL];
  const model = wanted.map((id) => models.find((each) => each.id === id)).find(Boolean) ?? models[0]!;
  const choose = (id: string) => {
    writeStored('model', id);
    void navigate({ search: (before) => ({ ...before, model: id }), replace: true });
  };
  const select = <ModelSelect models={models} value={model.id} onChange={choose} />;
  const isMedia = model.kind === 'video' || model.kind === 'image';
  return isMedia ? (
    <MediaPlayground model={model} select={select} />
  ) : (
    <TextPlayground key={model.id} model={model} select={select} />
  );
}

interface ModelSelectProps {
  readonly models: readonly ConsoleModel[];
  readonly value: string;
  readonly onChange: (id: string) => void;
}

function ModelSelect({ models, value, onChange }: ModelSelectProps) {
  const { playground, common } = useMessages();
  return (
    <Select label={common.model} value={value} onChange={(event) => onChange(event.target.value)}>
      {KINDS.map((kind) => {
        const those = models.filter((model) => model.kind === kind);
        return (
          those.length > 0 && (
            <optgroup key={kind} label={playground.kinds[kind]}>
              {those.map(({ id, available }) => (
                <option key={id} value={id}>
                  {available ? id : `${id} (${playground.notAvailable})`}
                </option>
              ))}
            </optgroup>
          )
        );
      })}
    </Select>
  );
}
