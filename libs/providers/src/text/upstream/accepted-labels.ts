import { createHash } from 'node:crypto';

/** The longest name of a user, or key of the prompt cache, that two of the interfaces take, in characters. */
const LONGEST = 64;

/** The longest name of a user that messages vendors take. */
const LONGEST_OF_MESSAGES = 256;

/** Messages vendors refuse names by which a person could be reached. */
const REACHES_PERSON = /@|^\+?[\d\s().-]{7,}$/;

/** Always the same, so that a vendor goes on telling users apart and finds its prompt cache. */
const hashed = (label: string): string => createHash('sha256').update(label).digest('hex');

/** What a chat or responses vendor is sent for a label of the caller's: its hash where it is too long, as those of agents are. */
export const acceptedLabel = (label: string | undefined): string | undefined =>
  label === undefined || label.length <= LONGEST ? label : hashed(label);

/** What a messages vendor is sent for the name of a user. */
export const acceptedUserId = (user: string): string =>
  user.length > LONGEST_OF_MESSAGES || REACHES_PERSON.test(user) ? hashed(user) : user;
