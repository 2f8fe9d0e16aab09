// Defines a persistent map: a changed copy shares the buckets that did not change.

const bucketCount = 1_024

export class BucketMap<V> {
  readonly #buckets: readonly ReadonlyMap<string, V>[]
  readonly size: number

  private constructor(buckets: readonly ReadonlyMap<string, V>[], size: number) {
    this.#buckets = buckets
    this.size = size
  }

  static empty<V>(): BucketMap<V> {
    const none: ReadonlyMap<string, V> = new Map()
    return new BucketMap(new Array<ReadonlyMap<string, V>>(bucketCount).fill(none), 0)
  }

  get(key: string): V | undefined {
    return this.#buckets[bucketOf(key)]!.get(key)
  }

  /** Returns the values in no order. A list, since nested generators take ten times as long. */
  values(): V[] {
    const values: V[] = []
    for (const bucket of this.#buckets) for (const value of bucket.values()) values.push(value)
    return values
  }

  /** Returns a changed copy. `undefined` removes the key; the last change of a key counts. */
  with(changes: Iterable<readonly [key: string, value: V | undefined]>): BucketMap<V> {
    const copies = new Map<number, Map<string, V>>()
    let { size } = this
    for (const [key, value] of changes) {
      const at = bucketOf(key)
      let bucket = copies.get(at)
      if (bucket === undefined) {
        bucket = new Map(this.#buckets[at])
        copies.set(at, bucket)
      }
      size -= bucket.size
      if (value === undefined) bucket.delete(key)
      else bucket.set(key, value)
      size += bucket.size
    }
    if (copies.size === 0) return this
    const buckets = [...this.#buckets]
    for (const [at, bucket] of copies) buckets[at] = bucket
    return new BucketMap(buckets, size)
  }
}

/** Hashes a key by FNV-1a. Names come from files: a crowded bucket is only slower to copy. */
function bucketOf(key: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  return (hash >>> 0) % bucketCount
}
