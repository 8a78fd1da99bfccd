import { randomUUID } from 'node:crypto';

/** The beginnings of identifiers that client libraries show to their users. */
export type TextIdPrefix =
  'resp_' | 'chatcmpl_' | 'cmp_' | 'ctc_' | 'msg_' | 'fc_' | 'rs_' | 'call_' | 'toolu_' | 'req_' | `${string}_gw`;

/** A fresh identifier: the prefix and 24 hexadecimal digits. */
export const newTextId = (prefix: TextIdPrefix): string => prefix + randomUUID().replaceAll('-', '').slice(0, 24);
