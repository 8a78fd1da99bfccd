import { createHash } from 'node:crypto';
import { Type } from 'class-transformer';
import { IsInt, IsNumber, IsObject, IsOptional, IsUrl, Matches, Max, Min, ValidateNested } from 'class-validator';
import { PLAIN_URL } from '#platform';

/** The name of an upstream, or of what several share. */
export const IsUpstreamName = (): PropertyDecorator =>
  Matches(/^[a-z0-9][a-z0-9._-]{0,62}$/, {
    message: '$property must be 1 to 63 of the characters a-z, 0-9, ".", "_" and "-"',
  });

/** It may be a private address: operators run models of their own. A secret in it would be shown, so it holds none. */
export const IsUpstreamAddress = (): PropertyDecorator =>
  IsUrl(PLAIN_URL, { message: '$property must be an http or https address without credentials, query or fragment' });

/** A key goes into a header, where a line break would fail every request. Quotation marks come from files that keep them. */
export const IsUpstreamKey = (): PropertyDecorator =>
  Matches(/^(?!["'])[\x21-\x7e]{1,8192}$/, {
    message:
      '$property must be 1 to 8192 printable ASCII characters, without spaces, line breaks and quotation marks around them',
  });

/** Settings with fields of their own. A list is none: what checks fields would check those of each of its entries. */
export const IsSettings =
  (settings: () => new () => object): PropertyDecorator =>
  (target, property) => {
    const message = '$property must be an object';
    IsObject({ message })(target, property);
    ValidateNested({ message })(target, property);
    Type(settings)(target, property);
  };

/** What every upstream says of itself, whatever it makes: its name, its key, and its place in the routing. */
export class RoutedEntry {
  /** Names the upstream in rows, logs and metrics. */
  @IsUpstreamName()
  id!: string;

  @IsOptional()
  @IsUpstreamKey()
  key?: string;

  /** Lower numbers are asked first. */
  @IsInt()
  @Min(0)
  @Max(1_000)
  priority = 0;

  /** Share of the work within its priority; 0 takes it out of service. */
  @IsNumber()
  @Min(0)
  @Max(1_000)
  weight = 1;
}

/** Enough to distinguish two settings of one entry; too little to reveal anything about a key. */
const CHARACTERS = 8;

/**
 * Names the key and the address that an entry stands for. What is known of an upstream's health belongs to these: a cooldown
 * after a wrong key must not outlive the key.
 */
export const accessFingerprint = (key: string | undefined, address: string | undefined): string =>
  createHash('sha256')
    .update(`${key ?? ''}\n${address ?? ''}`)
    .digest('hex')
    .slice(0, CHARACTERS);
