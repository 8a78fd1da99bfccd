import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useRead } from '../../api/queries';
import type { ConsoleModel, ConsoleTaskDetails, JsonValue } from '../../api/types';
import { useMessages } from '../../messages/language';
import { readDraft, writeDraft } from './draft';
import { type FormValues, fromAddress, toAddress, topFields, valuesFor } from './form-values';

const route = getRouteApi('/shell/playground');

/** The fields that were changed since a model was chosen. */
interface Typed {
  readonly model: string;
  readonly names: ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

/** The values of the form: from the address, a task to run again, and what was typed before in this tab. */
export function useForm(model: ConsoleModel) {
  const { playground } = useMessages();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [all, setAll] = useState<FormValues>(() => ({
    ...firstValues(model, playground.examplePrompt),
    ...readDraft(),
    ...fromAddress(model, search),
  }));
  const [typed, setTyped] = useState<Typed>({ model: model.id, names: NONE });
  const { kept, dropped } = valuesFor(model, all, typed.model === model.id ? typed.names : NONE);
  useRepeated(model, setAll);
  useEffect(() => writeDraft(all), [all]);
  const address = JSON.stringify(toAddress(model, kept));
  useEffect(() => {
    void navigate({
      search: ({ task, again, frame }) => ({
        ...(JSON.parse(address) as Record<string, string>),
        ...(task !== undefined && { task }),
        ...(again !== undefined && { again }),
        ...(frame !== undefined && { frame }),
      }),
      replace: true,
    });
  }, [address, navigate]);
  const set = (name: string, value: JsonValue | undefined) => {
    setTyped((before) => ({
      model: model.id,
      names: new Set(before.model === model.id ? before.names : NONE).add(name),
    }));
    setAll(({ [name]: _before, ...rest }) => (value === undefined ? rest : { ...rest, [name]: value }));
  };
  return { values: kept, dropped, set, reset: () => setAll({}) };
}

/** A first visit finds a prompt to run. */
const firstValues = (model: ConsoleModel, prompt: string): FormValues =>
  Object.keys(readDraft()).length === 0 && topFields(model).some(({ name }) => name === 'prompt') ? { prompt } : {};

/** Fills the form from the task that the address names, once: to run it again, or to continue from its image. */
function useRepeated(model: ConsoleModel, setAll: (change: (before: FormValues) => FormValues) => void): void {
  const { again, frame, seed } = route.useSearch();
  const navigate = route.useNavigate();
  const id = again ?? frame;
  const task = useRead('GET /tasks/:task_id', { params: { task_id: id ?? '' } }, { enabled: id !== undefined });
  const data = task.isPlaceholderData ? undefined : task.data;
  useEffect(() => {
    if (id === undefined || data?.id !== id) return;
    setAll((before) =>
      again === undefined ? { ...before, ...frameOf(model, data) } : requestOf(data, seed === 'new'),
    );
    const asked = again === undefined ? undefined : data.request?.['model'];
    void navigate({
      search: ({ again: _again, frame: _frame, seed: _seed, ...rest }) => ({
        ...rest,
        ...(typeof asked === 'string' && { model: asked }),
      }),
      replace: true,
    });
  }, [id, again, seed, data, model, setAll, navigate]);
}

function requestOf({ request }: ConsoleTaskDetails, isNewSeed: boolean): FormValues {
  const { model: _model, ...values } = request ?? {};
  const given = Object.entries(values).filter(([name, value]) => value !== null && !(isNewSeed && name === 'seed'));
  return Object.fromEntries(given);
}

/** The first image of a task, in the field of the model that takes one. */
function frameOf(model: ConsoleModel, task: ConsoleTaskDetails): FormValues {
  const url = task.files.find((file) => file.url !== null)?.url;
  const field = topFields(model).find(({ name }) => name === 'first_frame_image' || name === 'image_urls');
  if (!url || !field) return {};
  return { [field.name]: field.schema['type'] === 'array' ? [url] : url };
}
