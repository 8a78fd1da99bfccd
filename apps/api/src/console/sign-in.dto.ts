import { IsObject, IsOptional, IsString, MaxLength, MinLength } from 'class-validator';
import type { JsonObject } from '#contracts';

const SECRET_MAX = 500;
const CHALLENGE_MAX = 1_000;
const PATH_MAX = 2_000;

/** A code of a link. */
export class CodeBody {
  @IsString()
  @MinLength(1)
  @MaxLength(SECRET_MAX)
  code!: string;
}

export class PasswordSignInBody {
  @IsString()
  @MaxLength(SECRET_MAX)
  email!: string;

  @IsString()
  @MaxLength(SECRET_MAX)
  password!: string;
}

export class KeySignInBody {
  @IsString()
  @MinLength(1)
  @MaxLength(SECRET_MAX)
  key!: string;
}

export class OperatorSignInBody {
  @IsString()
  @MinLength(1)
  @MaxLength(SECRET_MAX)
  token!: string;
}

/** The user accepting an invitation; the password rules are checked where the password is set. */
export class InvitationBody extends CodeBody {
  @IsString()
  name!: string;

  @IsString()
  email!: string;

  @IsString()
  @MaxLength(SECRET_MAX)
  password!: string;
}

export class AccountChoiceBody {
  @IsString()
  @MaxLength(80)
  account_id!: string;
}

/** One of both. */
export class ProofBody {
  @IsOptional()
  @IsString()
  @MaxLength(SECRET_MAX)
  password?: string;

  @IsOptional()
  @IsString()
  @MaxLength(SECRET_MAX)
  token?: string;
}

export class ProfileBody {
  @IsOptional()
  @IsString()
  name?: string;

  @IsOptional()
  @IsString()
  email?: string;
}

export class NewPasswordBody {
  @IsString()
  @MaxLength(SECRET_MAX)
  password!: string;
}

/** What a browser answers to a challenge; what must be in `response` is checked with its signature. */
export class PasskeyAnswerBody {
  @IsString()
  @MinLength(1)
  @MaxLength(CHALLENGE_MAX)
  challenge_id!: string;

  @IsObject()
  response!: JsonObject;
}

export class NewPasskeyBody extends PasskeyAnswerBody {
  @IsString()
  name!: string;
}

export class SingleSignOnBody {
  @IsOptional()
  @IsString()
  @MaxLength(PATH_MAX)
  to?: string;

  @IsOptional()
  @IsString()
  @MaxLength(SECRET_MAX)
  invitation?: string;
}
