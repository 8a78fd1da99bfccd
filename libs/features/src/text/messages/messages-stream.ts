import {
  type Citation,
  errorInStyle,
  type FinishEvent,
  type GatewayError,
  type MessagesReplyBlock,
  type MessagesRequest,
  type MessagesStreamEvent,
  type TextEvent,
  type ToolStep,
} from '#contracts';
import { stepBlocks, writeCitation } from '../hosted-tools/messages-steps.js';
import { EVENT_STREAM, namedEvent, newTextId } from '../reply-parts.js';
import type { ReplyContext, TextStreamEncoder } from '../text-style-codec.js';
import { isUnsaid, stopReason, writeMessagesUsage } from './write-messages-answer.js';

type BlockKind = 'text' | 'reasoning' | 'call' | 'step';

const event = (body: MessagesStreamEvent): string => namedEvent(body.type, JSON.stringify(body));

/** Writes a reply as a native messages stream: one block open at a time, indexes from 0. */
export class MessagesStream implements TextStreamEncoder {
  readonly contentType = EVENT_STREAM;
  private started = false;
  private declines = false;
  private open: BlockKind | undefined;
  private index = -1;
  /** Whether the open text has citations: what follows them is another block. */
  private isCited = false;
  private searches = 0;

  constructor(private readonly context: ReplyContext<MessagesRequest>) {}

  write(sent: TextEvent): string {
    const start = this.started ? '' : this.start(sent.type === 'start' ? sent.inputTokens : undefined);
    switch (sent.type) {
      case 'refusal':
        this.declines = true;
        return start + this.text(sent.text);
      case 'text':
        return start + this.text(sent.text);
      case 'reasoning':
        return (
          start +
          this.ensure('reasoning', { type: 'thinking', thinking: '', signature: '' }) +
          this.delta('thinking_delta', 'thinking', sent.text)
        );
      case 'break':
        return start + this.close();
      case 'signature':
        return start + this.sign(sent.signature);
      case 'call':
        return start + this.openBlock('call', { type: 'tool_use', id: sent.id, name: sent.name, input: {} });
      case 'arguments':
        return start + (this.open === 'call' ? this.delta('input_json_delta', 'partial_json', sent.json) : '');
      case 'finish':
        return start + this.close() + this.finish(sent);
      default:
        return start + this.work(sent);
    }
  }

  relay(events: Uint8Array): Uint8Array {
    return events;
  }

  end(): string {
    return '';
  }

  heartbeat(): string {
    return event({ type: 'ping' });
  }

  fail(error: GatewayError): readonly string[] {
    const { error: nested, request_id, message } = errorInStyle('messages', error, this.context.requestId);
    const json = JSON.stringify({ type: 'error', error: nested, request_id, message });
    return [namedEvent('error', json)];
  }

  /** Some client libraries report the input tokens of this event, so it carries the best number known. */
  private start(inputTokens: number | undefined): string {
    this.started = true;
    const usage = {
      ...writeMessagesUsage(undefined),
      input_tokens: inputTokens ?? this.context.estimatedInputTokens,
      output_tokens: 1,
    };
    const message = {
      id: newTextId('msg_'),
      type: 'message' as const,
      role: 'assistant' as const,
      model: this.context.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage,
    };
    return event({ type: 'message_start', message }) + event({ type: 'ping' });
  }

  private text(text: string): string {
    const cut = this.isCited ? this.close() : '';
    return cut + this.ensure('text', { type: 'text', text: '' }) + this.delta('text_delta', 'text', text);
  }

  /** Finished work of the gateway, and citations of the open text. */
  private work(sent: TextEvent): string {
    if (sent.type === 'citation') return this.cite(sent.citation);
    return sent.type === 'step' && sent.state === 'done' ? this.step(sent.step) : '';
  }

  private cite(citation: Citation): string {
    if (this.open !== 'text') return '';
    this.isCited = true;
    const delta = { type: 'citations_delta' as const, citation: writeCitation(citation) };
    return event({ type: 'content_block_delta', index: this.index, delta });
  }

  /** Blocks of what is over come whole; only the input of a call is written as one piece of JSON. */
  private step(step: ToolStep): string {
    if (step.type === 'web_search') this.searches += 1;
    return stepBlocks(step)
      .map((block) => {
        if (!('input' in block)) return this.openBlock('step', block) + this.close();
        const opened = this.openBlock('step', { ...block, input: {} });
        return opened + this.delta('input_json_delta', 'partial_json', JSON.stringify(block.input)) + this.close();
      })
      .join('');
  }

  private ensure(kind: BlockKind, block: MessagesReplyBlock): string {
    return this.open === kind ? '' : this.openBlock(kind, block);
  }

  private openBlock(kind: BlockKind, block: MessagesReplyBlock): string {
    const closed = this.close();
    this.open = kind;
    this.index += 1;
    return closed + event({ type: 'content_block_start', index: this.index, content_block: block });
  }

  /** Comes once a token, so that only the piece itself is serialised. */
  private delta(type: string, field: string, piece: string): string {
    const delta = `{"type":"${type}","${field}":${JSON.stringify(piece)}}`;
    return namedEvent('content_block_delta', `{"type":"content_block_delta","index":${this.index},"delta":${delta}}`);
  }

  private sign(signature: string): string {
    if (this.open === 'reasoning') return this.delta('signature_delta', 'signature', signature) + this.close();
    if (!isUnsaid(signature))
      return this.openBlock('reasoning', { type: 'redacted_thinking', data: signature }) + this.close();
    const opened = this.openBlock('reasoning', { type: 'thinking', thinking: '', signature: '' });
    return opened + this.delta('signature_delta', 'signature', signature) + this.close();
  }

  private close(): string {
    if (this.open === undefined) return '';
    this.open = undefined;
    this.isCited = false;
    return event({ type: 'content_block_stop', index: this.index });
  }

  private finish(finish: FinishEvent): string {
    const delta = {
      stop_reason: stopReason(finish.reason, this.declines),
      stop_sequence: finish.stopSequence ?? null,
    };
    return (
      event({ type: 'message_delta', delta, usage: writeMessagesUsage(finish.usage, this.searches) }) +
      event({ type: 'message_stop' })
    );
  }
}
