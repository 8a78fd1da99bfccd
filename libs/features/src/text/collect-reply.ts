import {
  type Citation,
  type CollectedReply,
  type FinishEvent,
  GatewayError,
  type ReplyBlock,
  type TextEvent,
  type ToolStep,
} from '#contracts';

type OpenBlock =
  | { type: 'text' | 'refusal'; text: string; citations?: Citation[]; isApart?: true }
  | { type: 'reasoning'; text: string; signature?: string }
  | { type: 'call'; id: string; name: string; arguments: string }
  | { type: 'step'; step: ToolStep };

/** Adds events up to a whole reply. */
export class ReplyCollector {
  private readonly openBlocks: OpenBlock[] = [];
  private finish: FinishEvent | undefined;
  private isBroken = false;

  add(event: TextEvent): void {
    switch (event.type) {
      case 'text':
      case 'refusal':
      case 'reasoning':
        this.grow(event.type, event.text);
        break;
      case 'break':
        this.isBroken = true;
        break;
      case 'signature':
        this.sign(event.signature);
        break;
      case 'call':
        this.openBlocks.push({ type: 'call', id: event.id, name: event.name, arguments: '' });
        break;
      case 'arguments': {
        const open = this.openBlocks.at(-1);
        if (open?.type === 'call') open.arguments += event.json;
        break;
      }
      case 'finish':
        this.finish = event;
        break;
      default:
        this.addWork(event);
    }
  }

  get blocks(): readonly ReplyBlock[] {
    return this.openBlocks;
  }

  /** @throws GatewayError `upstream_error` when the reply broke off before its end. */
  reply(): CollectedReply {
    if (!this.finish) throw new GatewayError('upstream_error', 'The upstream broke off before its reply was complete.');
    return { blocks: this.openBlocks.map(withArguments), finish: this.finish };
  }

  /** Finished work of the gateway, and citations of the open text. */
  private addWork(event: TextEvent): void {
    if (event.type === 'step' && event.state === 'done') this.openBlocks.push({ type: 'step', step: event.step });
    const open = this.openBlocks.at(-1);
    if (event.type === 'citation' && open?.type === 'text') (open.citations ??= []).push(event.citation);
  }

  private grow(type: 'text' | 'refusal' | 'reasoning', text: string): void {
    const open = this.openBlocks.at(-1);
    const isBroken = this.isBroken;
    this.isBroken = false;
    if (open?.type === type && !('signature' in open) && !isBroken) open.text += text;
    else if (type === 'reasoning') this.openBlocks.push({ type, text });
    else this.openBlocks.push({ type, text, ...(isBroken && { isApart: true }) });
  }

  private sign(signature: string): void {
    const open = this.openBlocks.at(-1);
    if (open?.type === 'reasoning' && open.signature === undefined) open.signature = signature;
    else this.openBlocks.push({ type: 'reasoning', text: '', signature });
  }
}

/** A call without arguments has an empty object of them: clients parse the text. */
const withArguments = (block: ReplyBlock): ReplyBlock =>
  block.type === 'call' && block.arguments === '' ? { ...block, arguments: '{}' } : block;

/** Everything of a reply that a tokenizer can count. */
export function producedText(blocks: readonly ReplyBlock[]): string {
  return blocks
    .map((block) => {
      if (block.type === 'step') return '';
      return block.type === 'call' ? block.name + block.arguments : block.text;
    })
    .join('');
}
