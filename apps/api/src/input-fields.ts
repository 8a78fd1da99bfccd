import { applyDecorators } from '@nestjs/common';
import { IsIn, IsInt, IsISO8601, IsString, Matches, Max, MaxLength, Min, MinLength, ValidateIf } from 'class-validator';
import { DAY_FORM, Described } from './http/input-schema.js';

/** A text of at most so many characters, which may be empty. */
export const IsText = (most: number): PropertyDecorator => applyDecorators(IsString(), MaxLength(most));

/** A text of 1 to so many characters. */
export const IsShownText = (most: number): PropertyDecorator => applyDecorators(MinLength(1), IsText(most));

/** An amount as a text, so that no digit is lost. Its form is checked where it is read. */
export const IsAmount = (note = 'Decimal text with at most six places, such as "10.50".'): PropertyDecorator =>
  applyDecorators(IsString(), Described(note));

/** A limit of an amount, lifted by null. */
export const IsAmountLimit = (): PropertyDecorator =>
  applyDecorators(OrNull(), IsAmount('Decimal text; null: no limit.'));

/** A limit of a number, lifted by null. */
export const IsWholeLimit = (most: number): PropertyDecorator =>
  applyDecorators(OrNull(), IsWhole(1, most), Described('Null: no limit.'));

/** A whole number, both bounds allowed. */
export const IsWhole = (least: number, most: number): PropertyDecorator =>
  applyDecorators(IsInt(), Min(least), Max(most));

export const IsDay = (): PropertyDecorator =>
  Matches(DAY_FORM, { message: '$property must be a day such as 2026-11-20' });

/** A day or a time in the form of ISO 8601. */
export const IsMoment = (): PropertyDecorator => IsISO8601({ strict: true });

/** `true` or `false`, as a query has them. */
export const IsTrueOrFalse = (): PropertyDecorator => IsIn(['true', 'false']);

/** It may be left out; null is no value of it. */
export const IfGiven = (): PropertyDecorator => ValidateIf((_object, value: unknown) => value !== undefined);

/** It may be left out; null is a value of its own, such as no limit. */
export const OrNull = (): PropertyDecorator =>
  ValidateIf((_object, value: unknown) => value !== undefined && value !== null);
