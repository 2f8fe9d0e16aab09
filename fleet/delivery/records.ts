// Signs the channel records of a delivery: one for each bundle in use.
import { assert } from '#lib/assert.ts'
import type { ChannelRecord, SignedChannelRecord } from '#bundle/signature/channel.ts'
import type { Clock } from '#lib/clock.ts'
import type { Place } from './state.ts'

interface PlaceRecordsParts {
  readonly channel: string
  readonly ttlMs: number
  /** See `ChannelRecord`. */
  readonly agentsMax: () => number | undefined
  /** Size of a stored bundle; undefined: it is absent. */
  readonly bytesOf: (digest: string) => number | undefined
  readonly sign: (record: ChannelRecord) => SignedChannelRecord
  readonly clock: Clock
}

export class PlaceRecords {
  readonly #parts: PlaceRecordsParts
  #signed: readonly SignedChannelRecord[] = []

  constructor(parts: PlaceRecordsParts) {
    this.#parts = parts
  }

  /** The same object until it is renewed, at half of its life. */
  of(place: Place): SignedChannelRecord {
    const { ttlMs, clock } = this.#parts
    const nowMs = Math.max(0, Math.floor(clock.nowMs()))
    const agentsMax = this.#parts.agentsMax()
    const known = this.#signed.find(
      ({ record }) => isOf(record, place) && record.agentsMax === agentsMax,
    )
    const ageMs = nowMs - (known?.record.issuedAtMs ?? 0)
    // The bundle may have arrived since.
    const isWhole =
      known?.record.bytes !== undefined || this.#parts.bytesOf(place.digest) === undefined
    if (known !== undefined && isWhole && ageMs >= 0 && ageMs < ttlMs / 2) return known
    const made = this.#made(place, nowMs)
    assert(isOf(made.record, place), 'a record is of the place that it was made for')
    // Two are in use, and earlier ones are kept for a while.
    this.#signed = [...this.#signed.filter((one) => one !== known), made].slice(-4)
    return made
  }

  #made({ seq, serial, digest, commit }: Place, nowMs: number): SignedChannelRecord {
    const { channel, ttlMs, sign, bytesOf } = this.#parts
    const bytes = bytesOf(digest)
    const agentsMax = this.#parts.agentsMax()
    return sign({
      ...{ channel, seq, digest, previous: '', commit },
      ...(serial === 0 ? {} : { serial }),
      ...(bytes === undefined ? {} : { bytes }),
      ...(agentsMax === undefined ? {} : { agentsMax }),
      issuedAtMs: nowMs,
      expiresAtMs: nowMs + ttlMs,
    })
  }
}

const isOf = (record: ChannelRecord, place: Place): boolean =>
  record.seq === place.seq &&
  record.digest === place.digest &&
  (record.serial ?? 0) === place.serial
