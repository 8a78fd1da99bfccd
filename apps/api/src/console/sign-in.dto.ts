import { IsObject, IsOptional, IsString } from 'class-validator';
import type { JsonObject } from '#contracts';
import { ShownText, Text } from '../input-fields.js';

const SECRET_MAX = 500;
const CHALLENGE_MAX = 1_000;
const PATH_MAX = 2_000;

/** A code of a link. */
export class CodeBody {
  @ShownText(SECRET_MAX) code!: string;
}

export class PasswordSignInBody {
  @Text(SECRET_MAX) email!: string;
  @Text(SECRET_MAX) password!: string;
}

export class KeySignInBody {
  @ShownText(SECRET_MAX) key!: string;
}

export class OperatorSignInBody {
  @ShownText(SECRET_MAX) token!: string;
}

/** The user accepting an invitation; the password rules are checked where the password is set. */
export class InvitationBody extends CodeBody {
  @IsString() name!: string;
  @IsString() email!: string;
  @Text(SECRET_MAX) password!: string;
}

export class AccountChoiceBody {
  @Text(80) account_id!: string;
}

/** One of both. */
export class ProofBody {
  @IsOptional() @Text(SECRET_MAX) password?: string;
  @IsOptional() @Text(SECRET_MAX) token?: string;
}

export class ProfileBody {
  @IsOptional() @IsString() name?: string;
  @IsOptional() @IsString() email?: string;
}

export class NewPasswordBody {
  @Text(SECRET_MAX) password!: string;
}

/** What a browser answers to a challenge; what must be in `response` is checked with its signature. */
export class PasskeyAnswerBody {
  @ShownText(CHALLENGE_MAX) challenge_id!: string;
  @IsObject() response!: JsonObject;
}

export class NewPasskeyBody extends PasskeyAnswerBody {
  @IsString() name!: string;
}

export class SingleSignOnBody {
  @IsOptional() @Text(PATH_MAX) to?: string;
  @IsOptional() @Text(SECRET_MAX) invitation?: string;
}
