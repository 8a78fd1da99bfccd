import { type ReactNode, useEffect, useRef, useState } from 'react';
import { ApiError } from '../../api/api-error';
import { callRaw } from '../../api/call';
import { queryClient } from '../../api/queries';
import type { ConsoleModel, JsonObject, JsonValue } from '../../api/types';
import { Button } from '../../components/button';
import { CodeBlock } from '../../components/code-block';
import { Segments, TextArea, TextField, useInputs } from '../../components/fields';
import { Card, Notice } from '../../components/page';
import { Failure } from '../../components/states';
import { formatMoney, fromMicros, toMicros } from '../../format/money';
import { formatCount } from '../../format/number';
import { useLanguage, useMessages } from '../../messages/language';
import { Code } from './code';
import { endsRun, forgetRun, readTextDraft, runKeyFor, writeTextDraft } from './draft';
import { failureIn, NOTHING_SAID, STYLES, TEXT_STYLES, type TextAnswer, type TextStyle } from './text-styles';

const MOST_TOKENS = 1_024;
const MILLION = 1_000_000n;

/** A question to a text model, with its answer as it is written. */
export function TextPlayground({ model, select }: { readonly model: ConsoleModel; readonly select: ReactNode }) {
  const { playground, shell, common } = useMessages();
  const [style, setStyle] = useState<TextStyle>('responses');
  const form = useInputs(readTextDraft);
  const { instructions, input, tools } = form.values;
  const [maxTokens, setMaxTokens] = useState(MOST_TOKENS);
  useEffect(() => writeTextDraft({ instructions, input, tools }), [instructions, input, tools]);
  const parsedTools = readTools(tools);
  const body = STYLES[style].body({ model: model.id, instructions, input, maxTokens, tools: parsedTools ?? [] });
  const stream = useTextStream();
  if (model.kind === 'embedding') {
    return (
      <div className="stack">
        {select}
        <Notice tone="info">{playground.embeddingOnly}</Notice>
        <Code path="/v1/embeddings" body={{ model: model.id, input: playground.examplePrompt }} />
      </div>
    );
  }
  return (
    <div className="columns">
      <form
        className="stack"
        aria-label={shell.pages.playground}
        onSubmit={(event) => {
          event.preventDefault();
          if (input !== '' && parsedTools && !stream.isRunning) void stream.start(style, body);
        }}
      >
        {select}
        <Segments
          label={playground.style}
          choices={TEXT_STYLES.map((value) => ({ value, label: playground.styles[value] }))}
          value={style}
          onChoose={(value) => setStyle(value as TextStyle)}
        />
        <TextArea {...form.text('instructions')} label={playground.instructions} rows={2} />
        <TextArea {...form.text('input')} label={playground.input} rows={5} />
        <TextField
          label={playground.maxTokens}
          type="number"
          min={1}
          value={maxTokens}
          onType={(value) => setMaxTokens(Math.max(1, Number(value)))}
        />
        <TextArea
          {...form.text('tools')}
          label={playground.tools}
          hint={playground.toolsHint}
          error={parsedTools ? undefined : playground.toolsWrong}
          rows={2}
        />
        <div className="row">
          <Button
            type="submit"
            look="primary run"
            label={stream.isRunning ? playground.running : playground.run}
            aria-disabled={input === '' || !parsedTools || stream.isRunning}
          />
          {stream.isRunning && <Button label={playground.stop} onClick={stream.stop} />}
          <TokenPrices of={model} />
        </div>
      </form>
      <div className="stack">
        <Card title={common.result}>
          <Answer answer={stream.answer} failure={stream.failure} />
        </Card>
        <Code path={STYLES[style].path} body={body} />
      </div>
    </div>
  );
}

function readTools(text: string): JsonValue[] | null {
  if (text.trim() === '') return [];
  try {
    const parsed = JSON.parse(text) as JsonValue;
    return Array.isArray(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

/** The price of a million input and output tokens, from the catalogue. */
function TokenPrices({ of: model }: { readonly of: ConsoleModel }) {
  const { playground } = useMessages();
  const million = (unit: string): string | null => {
    const price = model.prices.find((each) => each.unit === unit);
    if (!price) return null;
    return formatMoney(fromMicros((toMicros(price.amount) * MILLION) / BigInt(price.per_quantity)), price.currency);
  };
  const [input, output] = [million('input_token'), million('output_token')];
  return (
    input !== null && output !== null && <span className="muted small-text">{playground.perTokens(input, output)}</span>
  );
}

function Answer({ answer, failure }: { readonly answer: TextAnswer | null; readonly failure: Error | null }) {
  const { messages, language } = useLanguage();
  const { playground } = messages;
  if (!answer && !failure) return <p className="muted">{playground.resultEmpty}</p>;
  return (
    <div className="stack tight">
      {answer && (
        <p className="answer" data-testid="answer">
          {answer.text}
        </p>
      )}
      {answer?.calls.map((each, index) => (
        // Calls have no identity but their place.
        // oxlint-disable-next-line react/no-array-index-key
        <div key={index} className="stack tight">
          <p className="strong">{playground.toolCall(each.name)}</p>
          <CodeBlock name={each.name} code={each.input} />
        </div>
      ))}
      {answer?.usage && (
        <p className="muted small-text">
          {playground.usage(formatCount(answer.usage.input, language), formatCount(answer.usage.output, language))}
        </p>
      )}
      {failure && <Failure of={failure} money={isRefused(failure) && answer?.text === '' ? 'still' : 'unknown'} />}
    </div>
  );
}

/** Whether the server refused it; otherwise nobody here knows how far it came. */
const isRefused = (error: unknown): boolean =>
  error instanceof ApiError && error.status !== null && error.status >= 400;

/** Sends a question and gathers its answer; leaving the page, or stopping, ends the request. */
function useTextStream() {
  const [answer, setAnswer] = useState<TextAnswer | null>(null);
  const [failure, setFailure] = useState<Error | null>(null);
  const [isRunning, setRunning] = useState(false);
  const abort = useRef<AbortController | null>(null);
  useEffect(() => () => abort.current?.abort(), []);
  const start = async (style: TextStyle, body: JsonObject) => {
    const controller = new AbortController();
    abort.current = controller;
    setRunning(true);
    setFailure(null);
    setAnswer(NOTHING_SAID);
    try {
      const response = await callRaw(
        STYLES[style].route,
        { body },
        { signal: controller.signal, idempotencyKey: runKeyFor(`${style} ${JSON.stringify(body)}`) },
      );
      for await (const data of serverEvents(response)) {
        if (data === '[DONE]') continue;
        const event = JSON.parse(data) as JsonObject;
        const reported = failureIn(event);
        if (reported) throw ApiError.reported(reported);
        setAnswer((before) => STYLES[style].take(before ?? NOTHING_SAID, event));
      }
      forgetRun();
    } catch (error) {
      // Another click repeats a run whose answer was lost, so that it is not made and charged twice.
      if (controller.signal.aborted || endsRun(error)) forgetRun();
      if (!controller.signal.aborted) setFailure(error as Error);
    } finally {
      setRunning(false);
      void queryClient.invalidateQueries({ queryKey: ['GET /billing'] });
    }
  };
  return { answer, failure, isRunning, start, stop: () => abort.current?.abort() };
}

/** The data of each server-sent event of a response, as it comes in. */
async function* serverEvents(response: Response): AsyncGenerator<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    rest += value ?? '';
    const events = rest.split(/\r?\n\r?\n/);
    rest = done ? '' : (events.pop() ?? '');
    for (const event of events) {
      const data = event
        .split(/\r?\n/)
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice('data:'.length).trimStart())
        .join('\n');
      if (data !== '') yield data;
    }
    if (done) return;
  }
}
