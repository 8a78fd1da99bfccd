import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import type { TextGateway } from './text-gateway.js';

/** The client libraries of the vendors with a style of their own, on one gateway; none of them repeats a request. */
export interface LibraryClients {
  readonly openai: OpenAI;
  readonly anthropic: Anthropic;
  readonly google: GoogleGenAI;
}

export const libraryClients = ({ baseUrl, key }: Pick<TextGateway, 'baseUrl' | 'key'>): LibraryClients => ({
  openai: new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey: key, maxRetries: 0 }),
  anthropic: new Anthropic({ baseURL: baseUrl, apiKey: key, maxRetries: 0 }),
  google: new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl } }),
});
