import { LRUCache } from 'lru-cache';

/**
 * A cache of at most `most` entries, of which the longest unused leaves first, that takes memory as it fills.
 *
 * `max` of the library makes room for all entries at once: those of a gateway took 115 ms of each start and 16 MB
 * that a small installation never fills. Counted as sizes of one each, they have the same bound and begin empty.
 *
 * @param options `ttl` and `dispose` as in the library, where they differ from its defaults.
 */
export const lruCache = <Key extends string, Value extends object | string | number | true>(
  most: number,
  options: Pick<LRUCache.OptionsBase<Key, Value, unknown>, 'ttl' | 'ttlResolution' | 'perf' | 'dispose'> = {},
): LRUCache<Key, Value> => new LRUCache<Key, Value>({ ...options, maxSize: most, sizeCalculation: () => 1 });
