import { isIP } from 'node:net';
import { Transform } from 'class-transformer';
import { IsOptional, ValidateBy } from 'class-validator';
import { Variable } from '../config/variable.js';

/** An address, or an address and a port: `10.0.0.2`, `10.0.0.2:5353`, `[2001:db8::1]:53`. */
function isNameServer(entry: string): boolean {
  const [, bracketed, plain, port] = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+))(?::(\d{1,5}))?$/i.exec(entry) ?? [];
  return (
    isIP(bracketed ?? plain ?? entry) !== 0 && (port === undefined || (Number(port) >= 1 && Number(port) <= 65_535))
  );
}

export class NamesConfig {
  @Variable({
    description:
      'Name servers for hosts that users and vendors name (webhooks, references, results), separated by commas. When unset, those of the system are used. Your own servers, stores and upstreams are always looked up with the name servers and search domains of the system.',
    example: '10.0.0.2,[2001:db8::53]:53',
  })
  @IsOptional()
  @Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? value.split(',').flatMap((entry) => entry.trim() || []) : value,
  )
  @ValidateBy({
    name: 'areNameServers',
    validator: {
      validate: (value: unknown) => Array.isArray(value) && value.every((entry) => isNameServer(String(entry))),
      defaultMessage: () => '$property must list addresses with or without a port (10.0.0.2 or [2001:db8::53]:53)',
    },
  })
  OUTBOUND_NAME_SERVERS?: string[];
}
