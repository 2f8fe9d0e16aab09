// Journals of nodes in memory, for tests of their users: the contract is tested on databases.
import { ok } from '#lib/result.ts'
import type { Journals, SegmentPart, StoredSegment } from '#state/ports/journals.ts'

interface Kept extends StoredSegment {
  readonly node: string
  readonly octets: Buffer
}

export class MemoryJournals implements Pick<
  Journals,
  'append' | 'segmentsOf' | 'octetsOf' | 'nodes'
> {
  readonly #kept = new Map<string, Kept>()
  /** Number of added parts with octets. */
  added = 0
  asked = 0

  append: Journals['append'] = async (part) => {
    const key = keyOf(part)
    const known = this.#kept.get(key)
    const bytes = known?.bytes ?? 0
    this.asked++
    if (part.at !== bytes || part.octets.length === 0) return ok(bytes)
    this.added++
    this.#kept.set(key, grown(known, part))
    return ok(bytes + part.octets.length)
  }

  segmentsOf: Journals['segmentsOf'] = async (node) =>
    ok(
      [...this.#kept.values()]
        .filter((one) => one.node === node)
        .toSorted((a, b) => b.number - a.number),
    )

  octetsOf: Journals['octetsOf'] = async (segment) =>
    ok(this.#kept.get(keyOf(segment))?.octets ?? Buffer.alloc(0))

  nodes: Journals['nodes'] = async () =>
    ok(
      [...Map.groupBy(this.#kept.values(), ({ node }) => node)].map(([node, all]) => ({
        node,
        fromMs: Math.min(...all.map(({ fromMs }) => fromMs)),
        toMs: Math.max(...all.map(({ toMs }) => toMs)),
        bytes: all.reduce((sum, one) => sum + one.bytes, 0),
      })),
    )

  /** Removes the segments with this number from all nodes. */
  remove(number: number): void {
    for (const [key, one] of this.#kept) if (one.number === number) this.#kept.delete(key)
  }
}

const keyOf = ({ node, run, number }: Pick<SegmentPart, 'node' | 'run' | 'number'>): string =>
  `${node} ${run} ${number}`

function grown(known: Kept | undefined, part: SegmentPart): Kept {
  const { node, run, number, at, octets } = part
  return {
    ...{ node, run, number, bytes: at + octets.length },
    octets: Buffer.concat([known?.octets ?? Buffer.alloc(0), octets]),
    fromMs: Math.min(known?.fromMs ?? Infinity, part.fromMs),
    toMs: Math.max(known?.toMs ?? -Infinity, part.toMs),
    hasSwap: part.hasSwap || known?.hasSwap === true,
  }
}
