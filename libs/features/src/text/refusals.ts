import { checkBody, GatewayError, type LongTextRule, toolName } from '#contracts';
import { nextTurn } from '#platform';

/**
 * A choice among tools that the vendor runs, of which a call must be made.
 *
 * @throws GatewayError `unsupported_parameter` where none of them is among the tools of the request.
 */
export function expectOffered(chosen: readonly { type?: string | null }[], tools: readonly { type: string }[]): void {
  const offered = new Set(tools.map(({ type }) => toolName(type)));
  if (!chosen.some(({ type }) => offered.has(toolName(type ?? ''))))
    throw GatewayError.unsupported('tool_choice', 'the choice of a tool that is not offered');
}

/**
 * Checks a body against the class of its style.
 *
 * @throws GatewayError that lists every broken rule; `param` and the message are those of the first.
 */
export async function checkedBody<T>(type: abstract new () => T, body: unknown): Promise<T> {
  const long: LongTextRule[] = [];
  const [first, ...others] = checkBody(type, body, (rule) => long.push(rule));
  if (first) throw GatewayError.fromFields([first, ...others]);
  for (const rule of long) await expectLongText(rule);
  return body as T;
}

/** How much of a long text is looked through at once, in characters. */
const PIECE_CHARACTERS = 256 * 1024;

async function expectLongText({ param, text, wrong, message }: LongTextRule): Promise<void> {
  for (let from = 0; from < text.length; from += PIECE_CHARACTERS) {
    if (wrong.test(text.slice(from, from + PIECE_CHARACTERS)))
      throw GatewayError.fromFields([{ param, code: 'invalid_parameter', message }]);
    await nextTurn();
  }
}
