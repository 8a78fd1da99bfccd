import { common, failures, product, status } from './en/common';
import { roles, shell } from './en/shell';

/** The texts that every page needs. English is the reference: a language that lacks a text does not compile. */
export const en = { product, common, status, failures, shell, roles };
