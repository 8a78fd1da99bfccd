import type { VendorProtocol } from '#providers';

/**
 * The vendors of a run, by how an order whose reply was lost is handled. Each speaks a protocol of its own through its real
 * adapter: `idempotent` recognises a repeated order; `lookup` does not, but can be searched, and gets an image with the
 * order; `unknown` does neither; nor do `call`, which answers the order with the files in one long request, and `inline`,
 * which sends videos inside its replies.
 */
export const VENDOR_KINDS = ['idempotent', 'lookup', 'unknown', 'call', 'inline'] as const;
export type VendorKind = (typeof VENDOR_KINDS)[number];

/** One thing that clients order. */
export interface Order {
  readonly path: '/v1/images/generations' | '/v1/videos/generations';
  readonly body: Readonly<Record<string, unknown>>;
}

const image = (model: string): Order => ({ path: '/v1/images/generations', body: { model } });
const video = (model: string, fields: object = {}): Order => ({
  path: '/v1/videos/generations',
  body: { model, ...fields },
});

/** How each vendor is spoken to, and what is ordered of it, in turn; `imageUrl` is a public image. */
export const VENDORS = {
  idempotent: {
    protocol: 'gateway',
    orders: () => [
      image('eta-image-2.0'),
      image('eta-image-2.0'),
      video('beta-2.5-preview', { resolution: '480p', size: '16:9', duration: 5 }),
    ],
  },
  lookup: {
    protocol: 'kling',
    orders: (imageUrl) => [video('delta-v2-6', { image_urls: [imageUrl] }), video('delta-v2-6')],
  },
  unknown: { protocol: 'ark-video', orders: () => [video('alpha-2.0', { duration: 4, resolution: '480p' })] },
  call: { protocol: 'xai-image', orders: () => [image('iota-1.0-reseller')] },
  inline: {
    protocol: 'vertex-veo',
    orders: (imageUrl) => [video('gamma-3.1-fast-official', { duration: 4, first_frame_image: imageUrl })],
  },
} as const satisfies Record<
  VendorKind,
  { readonly protocol: VendorProtocol; readonly orders: (imageUrl: string) => readonly Order[] }
>;
