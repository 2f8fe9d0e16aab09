// The port of bundles that other nodes pull.
import type { Readable } from 'node:stream'
import type { Result } from '#lib/result.ts'

export interface Bundles {
  /**
   * Takes what a node tells of itself. undefined: it is one that does not count. Errors: a
   * sentence.
   */
  readonly told: (report: unknown) => Result<AskingNode | undefined, string>
  /**
   * Takes what a probe agent finds. `instance` names this process, which has heard what it heard.
   * Errors: a sentence; null: it cannot be passed on now.
   */
  readonly heard: (words: unknown) => Promise<Result<{ readonly instance: string }, string | null>>
  /**
   * Takes a part of a node's journal. Errors: it is wrong, as a sentence; this node has no
   * database; it cannot be kept now.
   *
   * @returns octets of the segment that there are
   */
  readonly journal: (part: unknown) => Promise<Result<{ readonly bytes: number }, JournalFault>>
  /**
   * For a node that says who it is, what its wave has. undefined: there is no such channel, or
   * nothing on it yet. `later`: it is not known yet what is on its way.
   */
  readonly record: (
    channel: string,
    node?: AskingNode,
  ) => { readonly text: string; readonly tag: string } | 'later' | undefined
  /** Digest of the bundle that a node is to compute with, too; '': none. */
  readonly shadowFor: (node: AskingNode | undefined) => string
  /** @returns whether it could wait for another record: too many others do */
  readonly waitForOther: (
    channel: string,
    tag: string,
    waitMs: number,
    node?: AskingNode,
  ) => Promise<boolean>
  /** undefined: there is no such bundle. `busy`: too many are being sent. */
  readonly open: (digest: string) => OpenBundle | 'busy' | undefined
  /** The same in Zstandard. undefined: there is none. */
  readonly openPacked: (digest: string) => Promise<OpenBundle | 'busy' | undefined>
  /** What makes the one of the other. undefined: there is none. */
  readonly delta: (from: string, to: string) => Promise<Uint8Array | undefined>
}

export type JournalFault =
  { readonly code: 'refused'; readonly message: string } | { readonly code: 'no-database' | 'away' }

/** The node that asks. */
export interface AskingNode {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
}

/** Read it or close it. */
export interface OpenBundle {
  readonly bytes: number
  /** @param end the last octet, not behind it */
  readonly read: (start: number, end: number) => Readable
  readonly close: () => void
}
