import { isEmail } from 'class-validator';
import { GatewayError } from '#contracts';
import { PASSWORD_CHARACTERS } from './password.js';

/** What a person says of themselves. */
export interface PersonDetails {
  readonly name: string;
  readonly email: string;
}

export const NAME_CHARACTERS_MAX = 100;
const EMAIL_CHARACTERS_MAX = 200;

/** The details that are given, as they are stored. @throws GatewayError `invalid_parameter`. */
export function checkPerson({ name, email }: Partial<PersonDetails>): { name?: string; email?: string } {
  return {
    ...(name !== undefined && { name: checkName(name) }),
    ...(email !== undefined && { email: checkEmail(email) }),
  };
}

/** @throws GatewayError `invalid_parameter`. */
export function checkEmail(email: string): string {
  const trimmed = email.trim().toLowerCase();
  if (trimmed.length <= EMAIL_CHARACTERS_MAX && isEmail(trimmed, { require_tld: false })) return trimmed;
  throw refused('email', `must be an e-mail address of at most ${EMAIL_CHARACTERS_MAX} characters`);
}

/** @throws GatewayError `invalid_parameter`. */
export function checkPassword(password: string): string {
  const { min, max } = PASSWORD_CHARACTERS;
  const { length } = Array.from(password);
  if (length >= min && length <= max) return password;
  throw refused('password', `must have ${min} to ${max} characters`);
}

function checkName(name: string): string {
  const trimmed = name.trim();
  if (trimmed !== '' && trimmed.length <= NAME_CHARACTERS_MAX) return trimmed;
  throw refused('name', `must have 1 to ${NAME_CHARACTERS_MAX} characters`);
}

const refused = (param: string, rule: string): GatewayError =>
  new GatewayError('invalid_parameter', `${param} ${rule}.`, { param });
