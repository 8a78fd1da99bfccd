import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { ChatAnthropic } from '@langchain/anthropic';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { ChatGoogle } from '@langchain/google';
import { ChatGoogleGenerativeAI } from '@langchain/google-genai';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, type LanguageModel, streamText } from 'ai';
import EarlierAnthropic from 'anthropic-sdk-0';
import OpenAI from 'openai';
import type { TextGateway } from './text-gateway.js';
import type { Style } from './text-requests.js';

/** Something said in a conversation; every second turn is the model's. */
type Conversation = readonly [first: string, ...rest: string[]];

/** A client library, reduced to what all of them can do. */
export interface LibraryClient {
  /** The text of a whole reply. */
  ask(model: string, conversation: Conversation, signal?: AbortSignal): Promise<string>;
  /** The pieces of a streamed reply. */
  stream(model: string, conversation: Conversation, signal?: AbortSignal): AsyncIterable<string>;
}

/** A library as an application would set it up: only the address and the key are the gateway's. */
export interface TextLibrary {
  readonly name: string;
  readonly style: Style;
  /** @param retries how often the library itself repeats a refused request. */
  connect(gateway: TextGateway, retries: number): LibraryClient;
}

const roleOf = (index: number): 'user' | 'assistant' => (index % 2 === 0 ? 'user' : 'assistant');
const messagesOf = (conversation: Conversation) =>
  conversation.map((content, index) => ({ role: roleOf(index), content }));

function openai({ baseUrl, key }: TextGateway, maxRetries: number): LibraryClient {
  const { responses } = new OpenAI({ apiKey: key, baseURL: `${baseUrl}/v1`, maxRetries });
  return {
    ask: async (model, conversation, signal) =>
      (await responses.create({ model, input: messagesOf(conversation) }, { signal })).output_text,
    stream: async function* (model, conversation, signal) {
      const events = await responses.create({ model, input: messagesOf(conversation), stream: true }, { signal });
      for await (const event of events) if (event.type === 'response.output_text.delta') yield event.delta;
    },
  };
}

function openaiChat({ baseUrl, key }: TextGateway, maxRetries: number): LibraryClient {
  const { completions } = new OpenAI({ apiKey: key, baseURL: `${baseUrl}/v1`, maxRetries }).chat;
  return {
    ask: async (model, conversation, signal) => {
      const { choices } = await completions.create({ model, messages: messagesOf(conversation) }, { signal });
      return choices[0]?.message.content ?? '';
    },
    stream: async function* (model, conversation, signal) {
      const body = { model, messages: messagesOf(conversation), stream: true as const };
      for await (const { choices } of await completions.create(body, { signal })) {
        const text = choices[0]?.delta.content;
        if (text) yield text;
      }
    },
  };
}

const anthropic =
  (Library: typeof Anthropic) =>
  ({ baseUrl, key }: TextGateway, maxRetries: number): LibraryClient => {
    const { messages } = new Library({ apiKey: key, baseURL: baseUrl, maxRetries });
    const body = (model: string, conversation: Conversation) => ({
      model,
      max_tokens: 2_000,
      messages: messagesOf(conversation),
    });
    return {
      ask: async (model, conversation, signal) => {
        const { content } = await messages.create(body(model, conversation), { signal });
        return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
      },
      stream: async function* (model, conversation, signal) {
        const events = await messages.create({ ...body(model, conversation), stream: true }, { signal });
        for await (const event of events)
          if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') yield event.delta.text;
      },
    };
  };

function genai({ baseUrl, key }: TextGateway, retries: number): LibraryClient {
  const retryOptions = { attempts: retries + 1, initialDelay: 0.05, jitter: 0 };
  const { models } = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl, ...(retries > 0 && { retryOptions }) } });
  const body = (model: string, conversation: Conversation, abortSignal: AbortSignal | undefined) => ({
    model,
    contents: conversation.map((text, index) => ({
      role: roleOf(index) === 'user' ? 'user' : 'model',
      parts: [{ text }],
    })),
    config: abortSignal ? { abortSignal } : {},
  });
  return {
    ask: async (...asked) => (await models.generateContent(body(asked[0], asked[1], asked[2]))).text ?? '',
    stream: async function* (model, conversation, signal) {
      for await (const chunk of await models.generateContentStream(body(model, conversation, signal)))
        if (chunk.text) yield chunk.text;
    },
  };
}

const aiSdk =
  (connect: (gateway: TextGateway) => (model: string) => LanguageModel) =>
  (gateway: TextGateway, maxRetries: number): LibraryClient => {
    const languageModel = connect(gateway);
    const options = (model: string, conversation: Conversation, abortSignal?: AbortSignal) => ({
      model: languageModel(model),
      maxRetries,
      maxOutputTokens: 2_000,
      messages: messagesOf(conversation),
      ...(abortSignal && { abortSignal }),
    });
    return {
      ask: async (...asked) => (await generateText(options(...asked))).text,
      stream: async function* (...asked) {
        const { fullStream } = streamText({ ...options(...asked), onError: () => {} });
        for await (const part of fullStream) {
          if (part.type === 'text-delta') yield part.text;
          if (part.type === 'error') throw part.error;
        }
      },
    };
  };

const langChain =
  (create: (model: string, gateway: TextGateway, maxRetries: number) => BaseChatModel) =>
  (gateway: TextGateway, retries: number): LibraryClient => {
    const options = (signal: AbortSignal | undefined) => (signal ? { signal } : {});
    return {
      ask: async (model, conversation, signal) =>
        (await create(model, gateway, retries).invoke(messagesOf(conversation), options(signal))).text,
      stream: async function* (model, conversation, signal) {
        const chunks = await create(model, gateway, retries).stream(messagesOf(conversation), options(signal));
        for await (const { text } of chunks) if (text !== '') yield text;
      },
    };
  };

/** Every library that the gateway promises to serve, in every style it speaks. */
export const TEXT_LIBRARIES: readonly TextLibrary[] = [
  { name: 'openai', style: 'responses', connect: openai },
  { name: 'openai (chat completions)', style: 'chat', connect: openaiChat },
  { name: '@anthropic-ai/sdk 1.x', style: 'messages', connect: anthropic(Anthropic) },
  // Both versions are structurally the same here.
  {
    name: '@anthropic-ai/sdk 0.x',
    style: 'messages',
    connect: anthropic(EarlierAnthropic as object as typeof Anthropic),
  },
  { name: '@google/genai', style: 'gemini', connect: genai },
  {
    name: 'AI SDK (OpenAI)',
    style: 'responses',
    connect: aiSdk(({ baseUrl, key: apiKey }) => {
      const provider = createOpenAI({ apiKey, baseURL: `${baseUrl}/v1` });
      return (model) => provider.responses(model);
    }),
  },
  {
    name: 'AI SDK (openai-compatible)',
    style: 'chat',
    connect: aiSdk(({ baseUrl, key: apiKey }) => {
      const provider = createOpenAICompatible({ name: 'gateway', apiKey, baseURL: `${baseUrl}/v1` });
      return (model) => provider(model);
    }),
  },
  {
    name: 'AI SDK (Anthropic)',
    style: 'messages',
    connect: aiSdk(({ baseUrl, key: apiKey }) => createAnthropic({ apiKey, baseURL: `${baseUrl}/v1` })),
  },
  {
    name: 'AI SDK (Google)',
    style: 'gemini',
    connect: aiSdk(({ baseUrl, key: apiKey }) => createGoogleGenerativeAI({ apiKey, baseURL: `${baseUrl}/v1beta` })),
  },
  {
    name: 'LangChain (OpenAI)',
    style: 'responses',
    connect: langChain(
      (model, { baseUrl, key: apiKey }, maxRetries) =>
        new ChatOpenAI({
          model,
          apiKey,
          maxRetries,
          useResponsesApi: true,
          configuration: { baseURL: `${baseUrl}/v1` },
        }),
    ),
  },
  {
    name: 'LangChain (Anthropic)',
    style: 'messages',
    connect: langChain(
      (model, { baseUrl, key: apiKey }, maxRetries) =>
        new ChatAnthropic({ model, apiKey, maxRetries, maxTokens: 2_000, anthropicApiUrl: baseUrl }),
    ),
  },
  {
    name: 'LangChain (Google)',
    style: 'gemini',
    connect: langChain(
      (model, { baseUrl, key: apiKey }, maxRetries) => new ChatGoogle({ model, apiKey, maxRetries, endpoint: baseUrl }),
    ),
  },
  {
    name: 'LangChain (Google, former)',
    style: 'gemini',
    connect: langChain(
      (model, { baseUrl, key: apiKey }, maxRetries) =>
        new ChatGoogleGenerativeAI({ model, apiKey, maxRetries, baseUrl }),
    ),
  },
];
