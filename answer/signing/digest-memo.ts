// Remembers the digests of rrsets that are the same in each answer: rrsets of the bundle, and those
// of a single member. Each thread has a memo of its own.

/**
 * Words of an entry. The view that it is from; a node, and what of it; the type, and above it the
 * labels of its name; TTL; the SOA serial, else 0; the digest.
 */
const Entry = {
  View: 0,
  Node: 1,
  Part: 2,
  Type: 3,
  Ttl: 4,
  Serial: 5,
  Digest: 6,
  Words: 8,
} as const

/** 8 KiB to 2 MiB. Each entry has one possible place; a new entry there replaces it. */
const entriesMin = 256
const entriesMax = 65_536

export class DigestMemo {
  #words = new Int32Array(0)
  #mask = 0
  #views = 0
  // What `find` has found.
  digest0 = 0
  digest1 = 0
  labels = 0

  /**
   * @param nodes of its bundle
   * @returns its number: entries of other views are not found
   */
  adopt(nodes: number): number {
    const wanted = Math.min(Math.max(nodes * 2, entriesMin), entriesMax)
    const entries = 2 ** Math.ceil(Math.log2(wanted))
    if (entries > this.#mask + 1) {
      this.#words = new Int32Array(entries * Entry.Words)
      this.#mask = entries - 1
    }
    return ++this.#views
  }

  find(
    view: number,
    node: number,
    part: number,
    type: number,
    ttlSeconds: number,
    serial: number,
  ): boolean {
    const words = this.#words
    const at = this.#entryOf(node, part, type)
    const typeAndLabels = words[at + Entry.Type]!
    if (
      words[at + Entry.View] !== view ||
      words[at + Entry.Node] !== node ||
      words[at + Entry.Part] !== part ||
      (typeAndLabels & 0xffff) !== type ||
      words[at + Entry.Ttl] !== ttlSeconds ||
      words[at + Entry.Serial] !== serial
    ) {
      return false
    }
    this.labels = typeAndLabels >>> 16
    this.digest0 = words[at + Entry.Digest]!
    this.digest1 = words[at + Entry.Digest + 1]!
    return true
  }

  /** Keeps what its fields say. The rest is as for `find`. */
  keep(
    view: number,
    node: number,
    part: number,
    type: number,
    ttlSeconds: number,
    serial: number,
  ): void {
    const words = this.#words
    const at = this.#entryOf(node, part, type)
    words[at + Entry.View] = view
    words[at + Entry.Node] = node
    words[at + Entry.Part] = part
    words[at + Entry.Type] = (this.labels << 16) | type
    words[at + Entry.Ttl] = ttlSeconds
    words[at + Entry.Serial] = serial
    words[at + Entry.Digest] = this.digest0
    words[at + Entry.Digest + 1] = this.digest1
  }

  #entryOf(node: number, part: number, type: number): number {
    const hash = Math.imul(Math.imul(node, 0x9e37_79b1) ^ (part + type), 0x85eb_ca6b)
    return ((hash ^ (hash >>> 15)) & this.#mask) * Entry.Words
  }
}
