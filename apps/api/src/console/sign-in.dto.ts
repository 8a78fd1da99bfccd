import { IsObject, IsOptional, IsString } from 'class-validator';
import type { JsonObject } from '#contracts';
import { IsShownText, IsText } from '../input-fields.js';

const SECRET_MAX = 500;
const CHALLENGE_MAX = 1_000;
const PATH_MAX = 2_000;

export class CodeBody {
  @IsShownText(SECRET_MAX) code!: string;
}

export class PasswordSignInBody {
  @IsText(SECRET_MAX) email!: string;
  @IsText(SECRET_MAX) password!: string;
}

export class KeySignInBody {
  @IsShownText(SECRET_MAX) key!: string;
}

export class OperatorSignInBody {
  @IsShownText(SECRET_MAX) token!: string;
}

/** The user accepting an invitation; the password rules are checked where the password is set. */
export class InvitationBody extends CodeBody {
  @IsString() name!: string;
  @IsString() email!: string;
  @IsText(SECRET_MAX) password!: string;
}

export class AccountChoiceBody {
  @IsText(80) account_id!: string;
}

/** One of both. */
export class ProofBody {
  @IsOptional() @IsText(SECRET_MAX) password?: string;
  @IsOptional() @IsText(SECRET_MAX) token?: string;
}

export class ProfileBody {
  @IsOptional() @IsString() name?: string;
  @IsOptional() @IsString() email?: string;
}

export class NewPasswordBody {
  @IsText(SECRET_MAX) password!: string;
}

/** What a browser answers to a challenge; what must be in `response` is checked with its signature. */
export class PasskeyAnswerBody {
  @IsShownText(CHALLENGE_MAX) challenge_id!: string;
  @IsObject() response!: JsonObject;
}

export class NewPasskeyBody extends PasskeyAnswerBody {
  @IsString() name!: string;
}

export class SingleSignOnBody {
  @IsOptional() @IsText(PATH_MAX) to?: string;
  @IsOptional() @IsText(SECRET_MAX) invitation?: string;
}
