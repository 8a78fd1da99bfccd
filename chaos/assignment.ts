import type { Failpoint } from '#runtime';

export const ROLES = ['api', 'image-worker', 'video-worker', 'maintenance-worker'] as const;
export type Role = (typeof ROLES)[number];

/** What a process is to do besides its work; may be changed while it runs. */
export interface Drill {
  /** Where it kills itself, and how likely each passage does so, 0 to 1; null: nowhere. */
  readonly crashAt: { readonly point: Failpoint; readonly chance: number } | null;
}

/** What a process gets when it starts its role. */
export interface Assignment {
  readonly role: Role;
  /** The configuration of the gateway. */
  readonly environment: Readonly<Record<string, string>>;
  /** How far its clock is off, in milliseconds. */
  readonly clockSkewMs: number;
  readonly drill: Drill;
}

/** What goes over the channel to a process: first what it is, later only what changed. */
export type Message = { readonly assignment: Assignment } | { readonly drill: Drill };
