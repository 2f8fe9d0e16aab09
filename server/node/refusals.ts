// Explains why a node does not activate a bundle, for the status page and the log.
import type { ChannelError, ChannelRecord, SignedChannelRecord } from '#bundle/signature/channel.ts'
import { err } from '#lib/result.ts'

export type RefusalCode =
  ChannelError | 'bad-bundle' | 'digest-mismatch' | 'unknown-strategy' | 'quarantined'

export interface Refusal {
  readonly code: RefusalCode
  /** Says what is wrong, and which bundle goes on serving. */
  readonly message: string
}

export function refuse(code: RefusalCode): { readonly ok: false; readonly error: Refusal } {
  return err({ code, message: refusalSentences[code] })
}

export const refusalSentences: Readonly<Record<RefusalCode, string>> = Object.freeze({
  malformed: 'the channel record is malformed; the serving bundle stays',
  'unknown-key':
    'the channel record is signed with a key that this node does not trust; the serving bundle stays',
  'bad-signature': 'the signature of the channel record is wrong; the serving bundle stays',
  'other-channel': 'the record is of another channel than the one this node follows',
  rollback:
    'the channel record is older than the one that serves: bundle.urls leads to two control nodes, which count apart (name one of them), or to a restored one (gslbd restore --seq-after)',
  equivocation:
    'two channel records have this seq and name other bundles: bundle.urls leads to two control nodes, which count apart (name one of them), or one is forged',
  'bad-bundle': 'the bundle is damaged; the serving bundle stays',
  'digest-mismatch':
    'the bundle is not the one that its channel record names; the serving bundle stays',
  'unknown-strategy':
    'the bundle uses a routing algorithm that this version does not know: upgrade this node, then publish again',
  quarantined:
    'the bundle is in quarantine because threads died under it; publish a change, or remove node/quarantine.json',
})

/** Reads the sequence number and digest of a record that may be malformed. */
export function namedBy(signed: unknown): { seq: number; digest: string } {
  const { seq, digest } = ((signed as Partial<SignedChannelRecord> | null)?.record ??
    {}) as Partial<ChannelRecord>
  return {
    seq: typeof seq === 'number' ? seq : 0,
    digest: typeof digest === 'string' ? digest : '',
  }
}
