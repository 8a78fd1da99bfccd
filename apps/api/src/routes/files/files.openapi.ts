import { inPath, type OperationText } from '../../http/operation.js';

/** Reading a result file. */
export const READ_FILE: OperationText = {
  id: 'readFile',
  tag: 'Files',
  summary: 'Read a result file by its signed link',
  description: 'The link itself is the authorization. Supports range requests.',
  parameters: [inPath('key', 'As in the link; may contain slashes.')],
  answer: { description: 'The file.', content: { '*/*': { schema: { type: 'string', format: 'binary' } } } },
  errors: [
    'permission_denied',
    'link_expired',
    'not_found',
    'range_not_satisfiable',
    'rate_limit_exceeded',
    'overloaded',
  ],
};
