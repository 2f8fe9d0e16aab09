// Compares the static rrsets of two names as answers show them.
import { findRrset, rrsetCount } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { NodeCell } from '#bundle/format/cells.ts'
import { glueBit, rdataForms, rdataLayout, RrsetCell } from '#bundle/format/rrsets.ts'
import { RrType } from '#dns/rrtype.ts'

/** Caches comparisons: many names share the rows of their rrsets. */
export class RrsetPairs {
  readonly #base: Bundle
  readonly #head: Bundle
  readonly #known = new Map<string, boolean>()

  constructor(base: Bundle, head: Bundle) {
    this.#base = base
    this.#head = head
  }

  /** Both nodes are in zones of the same name, which may end names in rdata. */
  areAlike(node: number, other: number): boolean {
    const [base, head] = [this.#base, this.#head]
    const count = rrsetCount(base, node)
    if (count !== rrsetCount(head, other)) return false
    if (count === 0) return true
    const first = base.nodeRow[node * NodeCell.Words + NodeCell.FirstRrset]!
    const start = head.nodeRow[other * NodeCell.Words + NodeCell.FirstRrset]!
    const key = `${first} ${start}`
    let known = this.#known.get(key)
    if (known === undefined) {
      known = true
      for (let i = 0; i < count && known; i++) known = this.#compare(first + i, start + i, true)
      this.#known.set(key, known)
    }
    return known
  }

  #compare(one: number, other: number, withTargets: boolean): boolean {
    const [base, head] = [this.#base, this.#head]
    const [row, otherRow] = [one * RrsetCell.Words, other * RrsetCell.Words]
    for (const cell of [RrsetCell.Type, RrsetCell.TtlSeconds, RrsetCell.Count]) {
      if (base.rrsetRow[row + cell] !== head.rrsetRow[otherRow + cell]) return false
    }
    const hasTarget = rdataForms[base.rrsetRow[row + RrsetCell.Type]!]?.hasTarget === true
    let at = base.rrsetRow[row + RrsetCell.Data]!
    let otherAt = head.rrsetRow[otherRow + RrsetCell.Data]!
    for (let i = 0; i < base.rrsetRow[row + RrsetCell.Count]!; i++) {
      const bytes = octets2(base.rrsetData, at)
      if (bytes !== octets2(head.rrsetData, otherAt)) return false
      const [from, otherFrom] = [at + rdataLayout.lengthBytes, otherAt + rdataLayout.lengthBytes]
      const skipped = hasTarget ? rdataLayout.targetBytes : 0
      for (let j = skipped; j < bytes; j++) {
        if (base.rrsetData[from + j] !== head.rrsetData[otherFrom + j]) return false
      }
      if (hasTarget && withTargets && !this.#areTargetsAlike(from, otherFrom)) return false
      at = from + bytes
      otherAt = otherFrom + bytes
    }
    return true
  }

  /** Compares the addresses of targets, which are sent beside the answer. */
  #areTargetsAlike(from: number, otherFrom: number): boolean {
    const [base, head] = [this.#base, this.#head]
    const one = octets4(base.rrsetData, from)
    const other = octets4(head.rrsetData, otherFrom)
    if (one === 0 || other === 0) return one === other
    if (one >= glueBit !== other >= glueBit) return false
    const node = base.targetNode[(one & (glueBit - 1)) - 1]!
    const otherNode = head.targetNode[(other & (glueBit - 1)) - 1]!
    return [RrType.A, RrType.AAAA].every((type) => {
      const [addresses, others] = [findRrset(base, node, type), findRrset(head, otherNode, type)]
      if (addresses < 0 || others < 0) return addresses === others
      return this.#compare(addresses, others, false)
    })
  }
}

function octets2(data: Uint8Array, at: number): number {
  return (data[at]! << 8) | data[at + 1]!
}

function octets4(data: Uint8Array, at: number): number {
  return octets2(data, at) * 0x1_0000 + octets2(data, at + 2)
}
