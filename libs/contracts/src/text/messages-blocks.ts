import type { JsonObject } from '../json.js';
import { Optional, Required, type FieldCheck } from './body-check.js';
import { choice, flag, jsonObject, listOf, object, stringOr, text, variants } from './field-checks.js';
import { base64Data, IMAGE_MEDIA_TYPES, webAddress } from './image-checks.js';

class UrlSource {
  @Required(webAddress()) url!: string;
}

class Base64Image {
  @Required(choice(IMAGE_MEDIA_TYPES)) media_type!: (typeof IMAGE_MEDIA_TYPES)[number];
  @Required(base64Data()) data!: string;
}

class Base64Document {
  @Required(choice(['application/pdf'])) media_type!: 'application/pdf';
  @Required(base64Data()) data!: string;
}

class TextSource {
  @Required(text()) data!: string;
}

class TextBlock {
  @Required(text()) text!: string;
}

class ImageBlock {
  @Required(variants({ url: UrlSource, base64: Base64Image }, { others: 'pass-through' })) source!:
    ({ type: 'url' } & UrlSource) | ({ type: 'base64' } & Base64Image) | { type: 'file' };
}

class Citations {
  @Optional(flag()) enabled?: boolean | null;
}

/** A document that its caller put together. */
class ContentSource {
  @Required(
    stringOr(
      listOf(variants({ text: TextBlock, image: ImageBlock }, { others: 'pass-through' })),
      'an array of text and image blocks',
    ),
  )
  content!: string | (({ type: 'text' } & TextBlock) | ({ type: 'image' } & ImageBlock))[];
}

const documentSource = variants(
  { url: UrlSource, base64: Base64Document, text: TextSource, content: ContentSource },
  { others: 'pass-through' },
);

class DocumentBlock {
  @Required(documentSource) source!:
    | ({ type: 'url' } & UrlSource)
    | ({ type: 'base64' } & Base64Document)
    | ({ type: 'text' } & TextSource)
    | ({ type: 'content' } & ContentSource)
    | { type: 'file' };
  @Optional(text()) title?: string | null;
  @Optional(text()) context?: string | null;
  @Optional(object(Citations)) citations?: Citations | null;
}

/** A passage that was found, with where it stands. */
class SearchResultBlock {
  @Required(text()) source!: string;
  @Required(text()) title!: string;
  @Required(listOf(variants({ text: TextBlock }))) content!: ({ type: 'text' } & TextBlock)[];
  @Optional(object(Citations)) citations?: Citations | null;
}

/** A tool that a search for tools found. */
class ToolReferenceBlock {
  @Required(text({ min: 1 })) tool_name!: string;
}

class ToolUseBlock {
  @Required(text({ min: 1 })) id!: string;
  @Required(text({ min: 1 })) name!: string;
  @Required(jsonObject()) input!: JsonObject;
}

const resultBlock = variants(
  {
    text: TextBlock,
    image: ImageBlock,
    document: DocumentBlock,
    search_result: SearchResultBlock,
    tool_reference: ToolReferenceBlock,
  },
  { others: 'pass-through' },
);

class ToolResultBlock {
  @Required(text({ min: 1 })) tool_use_id!: string;
  @Optional(stringOr(listOf(resultBlock), 'an array of text and image blocks')) content?:
    | string
    | (
        | ({ type: 'text' } & TextBlock)
        | ({ type: 'image' } & ImageBlock)
        | ({ type: 'document' } & DocumentBlock)
        | ({ type: 'search_result' } & SearchResultBlock)
        | ({ type: 'tool_reference' } & ToolReferenceBlock)
      )[];
  @Optional(flag()) is_error?: boolean;
}

class ThinkingBlock {
  @Required(text()) thinking!: string;
  @Optional(text()) signature?: string;
}

class RedactedThinkingBlock {
  @Required(text()) data!: string;
}

export type MessagesImageBlock = { type: 'image' } & ImageBlock;
export type MessagesDocumentBlock = { type: 'document' } & DocumentBlock;
export type MessagesSearchResultBlock = { type: 'search_result' } & SearchResultBlock;
export type MessagesBlock =
  | ({ type: 'text' } & TextBlock)
  | MessagesImageBlock
  | MessagesDocumentBlock
  | MessagesSearchResultBlock
  | ({ type: 'tool_reference' } & ToolReferenceBlock)
  | ({ type: 'tool_use' } & ToolUseBlock)
  | ({ type: 'tool_result' } & ToolResultBlock)
  | ({ type: 'thinking' } & ThinkingBlock)
  | ({ type: 'redacted_thinking' } & RedactedThinkingBlock);

/** A content block of a message. Types that are not listed here pass only to an upstream of this protocol. */
export const messagesBlock: FieldCheck = variants(
  {
    text: TextBlock,
    image: ImageBlock,
    document: DocumentBlock,
    search_result: SearchResultBlock,
    tool_use: ToolUseBlock,
    tool_result: ToolResultBlock,
    thinking: ThinkingBlock,
    redacted_thinking: RedactedThinkingBlock,
  },
  { others: 'pass-through' },
);
