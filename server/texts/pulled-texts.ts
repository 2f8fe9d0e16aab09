// Holds the TXT records of a node that only answers, as its control node has published them.
import type { ChannelRecord, SignedChannelRecord, TrustedKey } from '#bundle/signature/channel.ts'
import type { Publication } from '#bundle/signature/publication.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { TextsHandler } from '#zones/dynamic/dynamic-dns.ts'
import { WrittenRecords } from '#zones/dynamic/written-records.ts'
import type { BundleStore } from '#server/node/bundle-store.ts'
import type { DynamicFeed } from '#server/node/dynamic-link.ts'
import type { Refusal } from '#server/node/refusals.ts'
import { acceptableRecord, servableBundle } from '#server/node/verify-bundle.ts'
import { readStored } from '#server/node/stored-bundles.ts'
import { isTextsBundle, recordsOfTexts } from './texts-bundle.ts'

interface PulledTextsParts {
  readonly store: Pick<BundleStore, 'record' | 'bundle' | 'keep' | 'quarantine'>
  readonly trusted: readonly TrustedKey[]
  readonly log: Log
}

const otherKind: Refusal = {
  code: 'bad-bundle',
  message: 'the bundle is none of TXT records; the records before stay',
}

export class PulledTexts implements DynamicFeed {
  readonly texts = new WrittenRecords()
  readonly #parts: PulledTextsParts
  readonly #handlers = new Set<TextsHandler>()
  #serving: SignedChannelRecord | undefined
  /** The newest verified record, even when its bundle is damaged: an older one stays a rollback. */
  #newest: ChannelRecord | undefined

  constructor(parts: PulledTextsParts) {
    this.#parts = parts
  }

  onChange(handler: TextsHandler): () => void {
    this.#handlers.add(handler)
    return () => this.#handlers.delete(handler)
  }

  /** Reads the records that are stored on disk. */
  async start(): Promise<void> {
    const { store, trusted, log } = this.#parts
    const onRecord = (record: ChannelRecord): void => {
      if (record.seq > (this.#newest?.seq ?? 0)) this.#newest = record
    }
    for (const name of ['active', 'previous'] as const) {
      const stored = readStored({ store, trusted, onRecord }, name)
      if (stored === undefined) continue
      if (stored.ok && isTextsBundle(stored.value.bundle)) {
        const { signed, record, bundle } = stored.value
        this.#serving = signed
        return this.#take(record, bundle)
      }
      const why = stored.ok ? otherKind.message : stored.error
      log.warn({ bundle: name }, `the stored TXT records are not used: ${why}`)
    }
  }

  get record(): ChannelRecord | undefined {
    return this.#serving?.record
  }

  judge(signed: unknown): Result<ChannelRecord, Refusal> {
    return acceptableRecord(signed, { trusted: this.#parts.trusted, store: null }, this.#newest)
  }

  /** @returns when the records are in force on all threads */
  async activate({
    signedRecord,
    bundle: bytes,
  }: Publication): Promise<Result<'activated', Refusal>> {
    const { store, trusted, log } = this.#parts
    const record = this.judge(signedRecord)
    if (!record.ok) return record
    const bundle = servableBundle(bytes, record.value, trusted)
    if (!bundle.ok) return bundle
    if (!isTextsBundle(bundle.value)) return err(otherKind)
    try {
      store.keep(signedRecord, bytes, this.#serving)
    } catch (error) {
      log.error({ err: error }, 'TXT records cannot be stored: a restart would have older ones')
    }
    this.#serving = signedRecord
    this.#newest = record.value
    await this.#take(record.value, bundle.value)
    return ok('activated')
  }

  async #take(record: ChannelRecord, bundle: Bundle): Promise<void> {
    const revision = record.serial ?? 0
    const change = { ...this.texts.deltaTo(recordsOfTexts(bundle)), revision }
    const names = this.texts.change(change)
    await Promise.all([...this.#handlers].map(async (handler) => handler({ ...change, names })))
  }
}
