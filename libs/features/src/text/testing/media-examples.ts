import type { JsonObject } from '#contracts';
import type { Examples } from './translation-example.js';

export const PNG = 'iVBORw0KGgo=';
const PDF = 'JVBERi0=';
const PDF_DOCUMENT = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: PDF } };
const TEXT_DOCUMENT = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'words' } };
const TEXT = Buffer.from('plain words').toString('base64');

export const input = (...content: JsonObject[]): JsonObject => ({ input: [{ role: 'user', content }] });
export const blocks = (...content: JsonObject[]): JsonObject => ({ messages: [{ role: 'user', content }] });
export const parts = (...all: JsonObject[]): JsonObject => ({ contents: [{ role: 'user', parts: all }] });

/** Messages that hold more than words. */
export const MEDIA_EXAMPLES: Readonly<Record<string, Examples>> = {
  'several texts and images in one message': {
    responses: {
      added: input(
        { type: 'input_text', text: 'a' },
        { type: 'input_image', image_url: 'https://a.example/1.png' },
        { type: 'input_text', text: 'b' },
      ),
    },
    messages: {
      added: blocks(
        { type: 'text', text: 'a' },
        { type: 'image', source: { type: 'url', url: 'https://a.example/1.png' } },
        { type: 'text', text: 'b' },
      ),
    },
    gemini: {
      added: parts({ text: 'a' }, { inlineData: { mimeType: 'image/png', data: PNG } }, { text: 'b' }),
    },
  },
  'image by URL': {
    responses: { added: input({ type: 'input_image', image_url: 'https://a.example/1.png' }) },
    messages: { added: blocks({ type: 'image', source: { type: 'url', url: 'https://a.example/1.png' } }) },
    gemini: { added: parts({ fileData: { fileUri: 'https://a.example/1.png' } }) },
  },
  'image inline': {
    responses: { added: input({ type: 'input_image', image_url: `data:image/png;base64,${PNG}` }) },
    messages: { added: blocks({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }) },
    gemini: { added: parts({ inlineData: { mimeType: 'image/png', data: PNG } }) },
  },
  'image format of a single vendor (HEIC)': {
    gemini: { added: parts({ inlineData: { mimeType: 'image/heic', data: PNG } }) },
  },
  'image by file id': {
    responses: { added: input({ type: 'input_image', file_id: 'file-1' }) },
    messages: { added: blocks({ type: 'image', source: { type: 'file', file_id: 'file_1' } }) },
  },
  'PDF inline': {
    responses: { added: input({ type: 'input_file', file_data: `data:application/pdf;base64,${PDF}` }) },
    messages: {
      added: blocks(PDF_DOCUMENT),
    },
    gemini: { added: parts({ inlineData: { mimeType: 'application/pdf', data: PDF } }) },
  },
  'PDF by URL': {
    responses: { added: input({ type: 'input_file', file_url: 'https://a.example/1.pdf' }) },
    messages: { added: blocks({ type: 'document', source: { type: 'url', url: 'https://a.example/1.pdf' } }) },
    gemini: { added: parts({ fileData: { fileUri: 'https://a.example/1.pdf', mimeType: 'application/pdf' } }) },
  },
  'text file': {
    responses: { added: input({ type: 'input_file', filename: 'a.txt', file_data: `data:text/plain;base64,${TEXT}` }) },
    messages: {
      added: blocks({ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'plain words' } }),
    },
    gemini: { added: parts({ inlineData: { mimeType: 'text/plain', data: TEXT } }) },
  },
  'document title and context': {
    messages: {
      given: blocks(TEXT_DOCUMENT),
      added: blocks({ ...TEXT_DOCUMENT, title: 'A title', context: 'of last year' }),
    },
  },
  'document of content blocks': {
    messages: {
      added: blocks(
        {
          type: 'document',
          title: 'A title',
          context: 'of last year',
          source: {
            type: 'content',
            content: [
              { type: 'text', text: 'words' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
            ],
          },
        },
        { type: 'document', source: { type: 'content', content: 'more words' } },
      ),
    },
  },
  'context of a PDF': {
    messages: {
      given: blocks(PDF_DOCUMENT),
      added: blocks({ ...PDF_DOCUMENT, context: 'of last year' }),
    },
  },
  'name of a file': {
    responses: {
      given: input({ type: 'input_file', file_data: `data:application/pdf;base64,${PDF}` }),
      added: input({ type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` }),
    },
    messages: {
      given: blocks(PDF_DOCUMENT),
      added: blocks({ ...PDF_DOCUMENT, title: 'A title' }),
    },
  },
  'citations of documents': {
    messages: {
      added: blocks({ ...TEXT_DOCUMENT, citations: { enabled: true } }),
    },
  },
  audio: {
    responses: { added: input({ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }) },
    gemini: { added: parts({ inlineData: { mimeType: 'audio/wav', data: 'AAAA' } }) },
  },
  'video, or a link without a media type': {
    gemini: { added: parts({ fileData: { fileUri: 'https://youtu.be/x' } }) },
  },
};
