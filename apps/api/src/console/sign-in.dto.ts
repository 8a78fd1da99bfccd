import { IsOptional, IsString, MaxLength, MinLength } from 'class-validator';

const SECRET_MAX = 500;

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

/** Who takes an invitation; how a password must be is said where it is set. */
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
