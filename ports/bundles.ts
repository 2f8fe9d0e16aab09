// Defines the port of the bundles that other nodes pull.
import type { Readable } from 'node:stream'
import type { Result } from '#lib/result.ts'

export interface Bundles {
  /** Takes a report sent with a request. undefined: the node does not count. Errors: a sentence. */
  readonly takeReport: (report: unknown) => Result<AskingNode | undefined, string>
  /**
   * Takes the findings of a probe agent. `instance` identifies this process, which remembers them.
   * Errors: a sentence; null: they cannot be passed on now.
   */
  readonly heard: (words: unknown) => Promise<Result<{ readonly instance: string }, string | null>>
  /**
   * Takes a part of a node's journal. Errors: it is malformed, as a sentence; this node has no
   * database; it cannot be stored now.
   *
   * @returns octets of the segment that are stored
   */
  readonly journal: (part: unknown) => Promise<Result<{ readonly bytes: number }, JournalFault>>
  /**
   * The keys of zones for a node, sealed to it; null: it has them. Errors: why it gets none, with a
   * sentence.
   */
  readonly keys: (asked: AskedKeys) => Result<Uint8Array | null, KeysFault>
  /** The certificate of the ACME server for a node, as the keys are. */
  readonly certificate: (asked: AskedKeys) => Result<Uint8Array | null, KeysFault>
  /**
   * The record for a node, which depends on its wave. undefined: there is no such channel, or
   * nothing on it yet. `later`: the delivery is not read yet.
   */
  readonly record: (
    channel: string,
    node?: AskingNode,
  ) => { readonly text: string; readonly tag: string } | 'later' | undefined
  /** Digest of the bundle that a node is to compute with beside its own; '': none. */
  readonly shadowFor: (node: AskingNode | undefined) => string
  /**
   * Waits for another record.
   *
   * @returns false when too many others wait
   */
  readonly waitForOther: (
    channel: string,
    tag: string,
    waitMs: number,
    node?: AskingNode,
  ) => Promise<boolean>
  /** Opens a bundle. undefined: it does not exist. `busy`: too many are being sent. */
  readonly open: (digest: string) => OpenBundle | 'busy' | undefined
  /** Opens the bundle in Zstandard. undefined: there is none. */
  readonly openPacked: (digest: string) => Promise<OpenBundle | 'busy' | undefined>
  /** The delta from one bundle to the other. undefined: there is none. */
  readonly delta: (from: string, to: string) => Promise<Uint8Array | undefined>
}

export type JournalFault =
  { readonly code: 'refused'; readonly message: string } | { readonly code: 'no-database' | 'away' }

interface AskedKeys {
  /** Report of the node about itself, as it was received. */
  readonly report: object
  /** The revision of the keys that it has. */
  readonly revision: number
}

export interface KeysFault {
  /** `none`: this node gives no keys. `stranger`: the node is none that gets some. */
  readonly code: 'refused' | 'none' | 'stranger' | 'away'
  readonly message: string
}

/** The node that sent the request. */
export interface AskingNode {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
}

/** An open bundle, which must be read or closed. */
export interface OpenBundle {
  readonly bytes: number
  /** @param end the last octet, inclusive */
  readonly read: (start: number, end: number) => Readable
  readonly close: () => void
}
