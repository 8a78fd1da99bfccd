/** Paths of 16 by 16 icons, drawn as lines. */
const PATHS = {
  overview: 'M2.5 2.5h4.5v4.5h-4.5zM9 2.5h4.5v4.5h-4.5zM2.5 9h4.5v4.5h-4.5zM9 9h4.5v4.5h-4.5z',
  playground: 'M4.5 2.8v10.4l8.5-5.2z',
  tasks: 'M2.5 3.5h11v9h-11zM6 6.2l3.5 1.8-3.5 1.8z',
  usage: 'M2.5 13.5h11M4.5 11V8M8 11V3.5M11.5 11V6',
  billing: 'M2.5 4h11v8.5h-11zM2.5 7h11M5 10h2',
  keys: 'M9.2 6.8a3 3 0 1 0-2.1 2.1l.9.9h1.5v1.5H11v1.5h2.5v-2.3zM5.8 5.3h.01',
  webhooks: 'M2.5 8h3l2-4.5 2 9 2-4.5h2',
  models: 'M8 2l5.5 3v6L8 14l-5.5-3V5zM2.5 5 8 8l5.5-3M8 8v6',
  account: 'M8 8a2.7 2.7 0 1 0 0-5.4A2.7 2.7 0 0 0 8 8zM2.8 13.5c.6-2.6 2.7-3.7 5.2-3.7s4.6 1.1 5.2 3.7',
  accounts: 'M3 13.5v-11h6v11M9 6h4v7.5M1.8 13.5h12.4M5.3 5.3h1.4M5.3 8h1.4M5.3 10.7h1.4',
  prices: 'M8.5 2.5h5v5l-6 6-5-5zM11 5h.01',
  upstreams: 'M8 9.5V13.5M8 9.5l-3.5-3.5M8 9.5l3.5-3.5M4.5 6V2.5M11.5 6V2.5',
  reconciliation: 'M8 2.5v11M4.5 13.5h7M3 5h10M3 5l-1.5 4h3zM13 5l-1.5 4h3z',
  audit: 'M4 2.5h6l2.5 2.5v8.5h-8.5zM6 7h4.5M6 10h4.5',
  queues: 'M2.5 4h11M2.5 8h11M2.5 12h7',
  copy: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z',
  check: 'M3 8.5l3.2 3.2L13 4.8',
  close: 'M4 4l8 8M12 4l-8 8',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.5 10.5l3 3',
  refresh: 'M13 8a5 5 0 1 1-1.6-3.7M13 2.5v3h-3',
  down: 'M4 6.5l4 4 4-4',
  plus: 'M8 3v10M3 8h10',
  download: 'M8 2.5v8M4.5 7.5 8 11l3.5-3.5M3 13.5h10',
  external: 'M6.5 3.5h-4v10h10v-4M9 2.5h4.5v4.5M13.5 2.5 7.5 8.5',
  grid: 'M2.5 2.5h4.5v4.5h-4.5zM9 2.5h4.5v4.5h-4.5zM2.5 9h4.5v4.5h-4.5zM9 9h4.5v4.5h-4.5z',
  list: 'M2.5 4h11M2.5 8h11M2.5 12h11',
} as const;

export type IconName = keyof typeof PATHS;

/** A decoration next to text; never the only carrier of information. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === 'more' ? 2.2 : 1.4}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The logo of the product. */
export function BrandMark() {
  return (
    <svg width="22" height="22" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="var(--accent-fill)" />
      <path
        d="M8 21.5 13 10.5l4.3 9.2 2.7-5.7 4 7.5"
        fill="none"
        stroke="var(--on-accent)"
        strokeWidth="2.6"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}
