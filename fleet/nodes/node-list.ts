// Holds the list of nodes that count, and reads its file again when that changes.
import { readFileSync, statSync } from 'node:fs'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { credentialLimits, isSignedBy, readNodeList } from './credentials.ts'
import type { ListedNode } from './credentials.ts'
import type { NodeReport } from './node-report.ts'

/** Reports that no listed node signed: `auto` counts them where there is no list. */
export const unlistedWays = ['auto', 'count', 'ignore'] as const
export type UnlistedWay = (typeof unlistedWays)[number]

/** Decides whose report it is. */
export interface NodeJudge {
  /** The row of the node that signed the report; undefined: no listed node did. */
  readonly signer: (sent: unknown, report: NodeReport) => ListedNode | undefined
  readonly isListed: (name: string) => boolean
  readonly countsUnlisted: () => boolean
}

const lookEveryMs = 1_000

export class NodeList implements NodeJudge {
  readonly #path: string
  readonly #way: UnlistedWay
  readonly #clock: Clock
  readonly #log: Log
  #nodes: ReadonlyMap<string, ListedNode> = new Map()
  /** Its file is there, also an empty one, or one that cannot be read. */
  #isKept = false
  #lookedAtMs = -Infinity
  #seen = ''

  constructor(path: string, way: UnlistedWay, clock: Clock, log: Log) {
    this.#path = path
    this.#way = way
    this.#clock = clock
    this.#log = log
  }

  readonly signer = (sent: unknown, report: NodeReport): ListedNode | undefined => {
    const node = this.#now().get(report.name)
    const nowMs = this.#clock.nowMs()
    return node !== undefined && isSignedBy(node, sent, report, nowMs) ? node : undefined
  }

  readonly isListed = (name: string): boolean => this.#now().has(name)

  readonly countsUnlisted = (): boolean =>
    this.#way === 'count' || (this.#way === 'auto' && this.#now().size === 0 && !this.#isKept)

  /** A file with a mistake lists what it did; without a file no node is listed. */
  #now(): ReadonlyMap<string, ListedNode> {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#lookedAtMs < lookEveryMs) return this.#nodes
    this.#lookedAtMs = nowMs
    this.#isKept = true
    try {
      const stat = statSync(this.#path, { throwIfNoEntry: false })
      this.#isKept = stat !== undefined
      const seen = stat === undefined ? '' : `${stat.mtimeMs} ${stat.size} ${stat.ino}`
      if (seen === this.#seen) return this.#nodes
      this.#seen = seen
      if ((stat?.size ?? 0) > credentialLimits.fileBytesMax) throw new Error('it is too large')
      const read = readNodeList(stat === undefined ? '' : readFileSync(this.#path, 'utf8'))
      if (!read.ok) throw new Error(read.error)
      this.#nodes = read.value
      this.#log.info({ nodes: read.value.size }, 'the list of nodes was read')
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      this.#log.error({}, `${this.#path} is no list of nodes, and the one before stays: ${why}`)
    }
    return this.#nodes
  }
}
