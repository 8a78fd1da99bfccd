import type { JsonObject } from '#contracts';

/** Where a project makes videos. */
export interface VertexSettings {
  /** Absent: that of the service account. */
  readonly project?: string;
  readonly region: string;
  /** A bucket for finished videos, which keeps the replies small. */
  readonly storageUri?: string;
  /** Where buckets are read. */
  readonly storageEndpoint: string;
}

const DEFAULTS = { region: 'us-central1', storage_endpoint: 'https://storage.googleapis.com' } as const;

interface Rule {
  readonly fits: RegExp;
  readonly says: string;
}

const RULES: Readonly<Record<string, Rule>> = {
  project: { fits: /^[a-z][a-z0-9-]{4,61}[a-z0-9]$/, says: 'must be the id of a project' },
  region: { fits: /^(?:global|[a-z]+-[a-z]+\d+)$/, says: 'must be a region, for example us-central1, or global' },
  storage_uri: { fits: /^gs:\/\/[a-z0-9][\w.-]{1,220}[a-z0-9](?:\/[^?#]*)?$/, says: 'must be gs://BUCKET/FOLDER/' },
  storage_endpoint: { fits: /^https?:\/\/[\w.:-]+$/, says: 'must be an http or https address without a path' },
};

/** What is wrong with the settings of an entry, by name. */
export const vertexSettingsMistakes = (settings: JsonObject): readonly (readonly [name: string, rule: string])[] =>
  Object.entries(settings).flatMap(([name, value]): [string, string][] => {
    const rule = RULES[name];
    if (!rule) return [[name, `is not a setting of this protocol; its settings are ${Object.keys(RULES).join(', ')}`]];
    return typeof value === 'string' && rule.fits.test(value) ? [] : [[name, rule.says]];
  });

/** Settings that were checked. */
export function vertexSettings(settings: JsonObject): VertexSettings {
  const { project, region, storage_uri, storage_endpoint } = { ...DEFAULTS, ...settings } as Record<string, string>;
  return {
    region: region ?? DEFAULTS.region,
    storageEndpoint: storage_endpoint ?? DEFAULTS.storage_endpoint,
    ...(project !== undefined && { project }),
    ...(storage_uri !== undefined && { storageUri: storage_uri }),
  };
}
