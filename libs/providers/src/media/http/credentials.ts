import type { JsonValue } from '#contracts';

type Headers = Readonly<Record<string, string>>;

/** The parts of a reply that credentials read. */
interface AnsweredWith {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: JsonValue | undefined;
}

/** What authenticates us to a vendor. */
export interface Credentials {
  /** The headers of one call. @throws MediaFailure when there are none to be had. */
  headers(signal: AbortSignal): Headers | Promise<Headers>;
  /** Whether headers made now may be accepted after this reply to earlier ones. Absent: they never change. */
  renewedAfter?(reply: AnsweredWith): boolean;
  /** Texts that must not be shown. */
  secrets(): readonly string[];
}

export const keyCredentials = (key: string, codec: { authorization(key: string): Headers }): Credentials => ({
  headers: () => codec.authorization(key),
  secrets: () => [key],
});
