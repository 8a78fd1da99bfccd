/**
 * Who and what a request is for, as its client says: for records, reports and limits of tags, never for access. Names of sessions
 * and people are no part of any log line.
 */
export interface Attribution {
  /** The conversation of an agent, 1 to 256 characters. */
  readonly session?: string;
  /** The part of an agent that asks, 1 to 128 characters. */
  readonly agent?: string;
  /** Whom the caller serves, 1 to 128 characters. */
  readonly endUser?: string;
  /** 1 to 8 of them, those of the key first. */
  readonly tags?: readonly string[];
  /** Those of the tags whose spending the account limits. */
  readonly limitedTags?: readonly string[];
}

/** The most tags of a request, and what a tag may be. */
export const TAGS_MAX = 8;
export const TAG_FORM = /^[\w.:-]{1,64}$/;

/** The columns of a task or usage record; JSON leaves out what is undefined. */
export const attributionColumns = (attribution: Attribution | undefined): Record<string, unknown> =>
  attribution === undefined
    ? NOTHING_SAID
    : {
        session: attribution.session,
        agent: attribution.agent,
        end_user: attribution.endUser,
        tags: attribution.tags,
      };

const NOTHING_SAID = {};
