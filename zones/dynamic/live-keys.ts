// The TSIG keys of a node in the form in which messages are checked with them.
import { parseName } from '#dns/name.ts'
import { tsigAlgorithm } from '#dns/tsig/tsig-algorithms.ts'
import type { TsigKey } from '#dns/tsig/tsig-key.ts'
import { unseal } from '#lib/secret-box.ts'
import type { StoredTsigKey } from '#state/ports/dynamic-dns.ts'

export interface LiveTsigKey extends TsigKey {
  readonly id: string
  readonly tenantId: string
  /** Wire form, in lower case; it may write there and below. null: wherever its tenant may. */
  readonly scope: Uint8Array | null
}

export class LiveKeys {
  static readonly none = new LiveKeys([], null)

  readonly #byName = new Map<string, LiveTsigKey>()
  /** Keys that this node cannot use: their secrets are not to be read with its GSLB_SECRET_KEY. */
  readonly unreadable: number

  /** @param secretKey null: none of them can be used */
  constructor(stored: readonly StoredTsigKey[], secretKey: Uint8Array | null) {
    let unreadable = 0
    for (const key of stored) {
      const live = secretKey === null ? undefined : liveKey(key, secretKey)
      if (live === undefined) unreadable++
      else this.#byName.set(textOf(live.name), live)
    }
    this.unreadable = unreadable
  }

  all(): readonly LiveTsigKey[] {
    return [...this.#byName.values()]
  }

  /** @param name in wire form and lower case */
  find(name: Uint8Array): LiveTsigKey | undefined {
    return this.#byName.get(textOf(name))
  }
}

const textOf = (name: Uint8Array): string => Buffer.from(name).toString('latin1')

function liveKey(
  { id, tenantId, name, algorithm, scope, secretCiphertext }: StoredTsigKey,
  secretKey: Uint8Array,
): LiveTsigKey | undefined {
  const secret = unseal(secretKey, secretCiphertext)
  const wire = parseName(name)
  const known = tsigAlgorithm(algorithm)
  const top = scope === null ? null : parseName(scope)
  if (!secret.ok || !wire.ok || known === undefined || top?.ok === false) return undefined
  return {
    ...{ id, tenantId, name: wire.value, algorithm: known },
    secret: Buffer.from(secret.value, 'base64'),
    scope: top === null ? null : top.value,
  }
}
