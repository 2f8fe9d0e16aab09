// Agrees with clients on keys by Kerberos: TKEY records with tokens of GSS-API. RFC 3645 section 4.
import { formatAddress, isMappedIpv4, subscriberOf } from '#dns/address.ts'
import { formatName, sameOctets } from '#dns/name.ts'
import { Rcode } from '#dns/rcode.ts'
import { TkeyError, TkeyMode } from '#dns/tkey/tkey-record.ts'
import type { TkeyRecord } from '#dns/tkey/tkey-record.ts'
import { gssTsig } from '#dns/tsig/tsig-algorithms.ts'
import type { Log } from '#lib/log.ts'
import { err } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { BeginContext, SecurityStep } from '#system/gss/security-context.ts'
import { AgreedKeys } from './agreed-keys.ts'
import type { AgreedKey, Negotiation } from './agreed-keys.ts'
import { gssLimits } from './limits.ts'
import type { GssLimits } from './limits.ts'

interface KeyExchangeParts {
  /** Reads the keytab. Errors: a sentence for the operator. */
  readonly open: () => Promise<Result<BeginContext, string>>
  readonly clock: { readonly nowMs: () => number; readonly monotonicMs: () => number }
  /** @param name in wire form and lower case: whether a key of the store has it */
  readonly isTaken: (name: Uint8Array) => boolean
  readonly log: Log
  readonly limits?: GssLimits
}

/** What the reply to a TKEY query has. */
export interface KeyReply {
  readonly rcode: Rcode
  /** undefined: no record. */
  readonly record: TkeyRecord | undefined
  /** Signs the reply; undefined: it is not signed. */
  readonly key: AgreedKey | undefined
  /** Called when it is signed. */
  readonly release: () => void
}

/** Counts since the start; `open` is how many there are now. */
export interface KeyExchangeCounts {
  agreed: number
  failed: number
  open: number
}

interface TkeyQuery {
  readonly record: TkeyRecord
  /** 16 octets. */
  readonly client: Uint8Array
  /** The key that has signed it; undefined: it is not signed. */
  readonly signer: Uint8Array | undefined
}

export class KeyExchange {
  readonly #parts: KeyExchangeParts
  readonly #limits: GssLimits
  readonly #keys: AgreedKeys
  #opening: Promise<BeginContext | undefined> | undefined
  #atOnce = 0
  #loggedMs = -Infinity
  #unlogged = 0
  readonly #counts = { agreed: 0, failed: 0 }

  constructor(parts: KeyExchangeParts) {
    this.#parts = parts
    this.#limits = parts.limits ?? gssLimits
    this.#keys = new AgreedKeys(this.#limits, parts.clock.monotonicMs)
  }

  get counts(): KeyExchangeCounts {
    return { ...this.#counts, open: this.#keys.count }
  }

  /** @param name in wire form and lower case */
  find(name: Uint8Array): AgreedKey | undefined {
    return this.#keys.find(name)?.key
  }

  /** Keeps a key until a reply is signed with it. @returns what ends that */
  hold(name: Uint8Array): () => void {
    const held = this.#keys.find(name)
    if (held === undefined) return () => undefined
    this.#keys.use(held)
    return this.#keys.hold(held)
  }

  /** It never rejects. */
  async reply(query: TkeyQuery): Promise<KeyReply> {
    const { record } = query
    if (record.mode === TkeyMode.Delete) return this.#delete(query)
    if (record.mode !== TkeyMode.GssApi) return withError(record, TkeyError.BadMode)
    if (!sameOctets(record.algorithmName, gssTsig.wire)) {
      return withError(record, TkeyError.BadAlgorithm)
    }
    // The client names the key; the root is no name for one.
    if (record.keyName.length === 1 || this.#parts.isTaken(record.keyName)) {
      return withError(record, TkeyError.BadName)
    }
    if (this.#atOnce >= this.#limits.atOnceMax) return failed
    this.#atOnce++
    try {
      return await this.#take(query)
    } catch (error) {
      this.#parts.log.error({ err: error }, 'a negotiation of a key failed')
      return failed
    } finally {
      this.#atOnce--
    }
  }

  /** RFC 2930 section 4.2: the message is signed, here with the key itself. */
  #delete({ record, signer }: TkeyQuery): KeyReply {
    const found = this.#keys.find(record.keyName)
    if (found?.key === undefined) return withError(record, TkeyError.BadName)
    if (signer === undefined || !sameOctets(signer, record.keyName)) {
      return { ...nothing, rcode: Rcode.Refused }
    }
    const release = this.#keys.hold(found)
    this.#keys.forget(found)
    const { key } = found
    return {
      rcode: Rcode.NoError,
      record: { ...record, key: none, error: TkeyError.None },
      key,
      release,
    }
  }

  async #take({ record, client }: TkeyQuery): Promise<KeyReply> {
    const begin = await this.#open()
    if (begin === undefined) return failed
    const from = subscriberOf(client)
    // Another message may have begun meanwhile.
    const known = this.#keys.find(record.keyName)
    if (known !== undefined && (known.client !== from || known.isBusy || known.key !== undefined)) {
      return withError(record, TkeyError.BadName)
    }
    const one = known ?? this.#keys.begin(record.keyName, from, begin())
    const release = this.#keys.hold(one)
    one.isBusy = true
    try {
      const step = await one.context.step(record.key)
      return this.#stepped(record, one, client, step)
    } catch (error) {
      this.#keys.forget(one)
      throw error
    } finally {
      one.isBusy = false
      release()
    }
  }

  #stepped(record: TkeyRecord, one: Negotiation, client: Uint8Array, step: SecurityStep): KeyReply {
    if (step.is === 'failed') return this.#refuse(record, one, client, step.why)
    if (step.is === 'unfinished') {
      if (++one.steps >= this.#limits.stepsMax) {
        return this.#refuse(record, one, client, 'the client sends one token after the other')
      }
      return { ...nothing, record: { ...record, key: step.token, error: TkeyError.None } }
    }
    const { principal, seconds } = step
    const fault = faultOf(step, this.#limits)
    if (fault !== undefined) return this.#refuse(record, one, client, fault)
    const { nowMs, monotonicMs } = this.#parts.clock
    const key: AgreedKey = {
      ...{ name: one.name, algorithm: gssTsig, secret: none, context: one.context },
      ...{ id: `gss:${principal}`, principal, scope: null, mayTransfer: false },
    }
    this.#keys.agree(one, key, monotonicMs() + seconds * 1_000)
    this.#counts.agreed++
    this.#parts.log.debug?.({ principal }, 'a client has a key by Kerberos')
    const inceptionSeconds = Math.floor(nowMs() / 1_000)
    const expirationSeconds = Math.min(inceptionSeconds + seconds, 0xffffffff)
    const times = { inceptionSeconds, expirationSeconds, error: TkeyError.None }
    const agreed = { ...record, ...times, key: step.token }
    return { ...nothing, record: agreed, key, release: this.#keys.hold(one) }
  }

  #refuse(record: TkeyRecord, one: Negotiation, client: Uint8Array, why: string): KeyReply {
    this.#keys.forget(one)
    this.#counts.failed++
    this.#tell({ client: clientText(client), key: formatName(record.keyName), reason: why }, noKey)
    return withError(record, TkeyError.BadKey)
  }

  async #open(): Promise<BeginContext | undefined> {
    this.#opening ??= this.#tryOpen()
    return await this.#opening
  }

  /** Where it fails, the next client after a pause tries again. */
  async #tryOpen(): Promise<BeginContext | undefined> {
    const opened = await this.#parts.open().catch((error: unknown) => err(String(error)))
    if (opened.ok) return opened.value
    this.#tell({ reason: opened.error }, noKeytab)
    setTimeout(() => (this.#opening = undefined), this.#limits.retryMs).unref()
    return undefined
  }

  #tell(about: object, line: string): void {
    const nowMs = this.#parts.clock.monotonicMs()
    if (nowMs < this.#loggedMs + this.#limits.logMs) {
      this.#unlogged++
      return
    }
    const others = this.#unlogged
    this.#parts.log.warn(others === 0 ? about : { ...about, others }, line)
    this.#loggedMs = nowMs
    this.#unlogged = 0
  }
}

const noKey = 'a client gets no key by Kerberos'
const noKeytab = 'dns.update.gssTsig.keytab cannot be used: no client gets a key by Kerberos'

function clientText(client: Uint8Array): string {
  return formatAddress(isMappedIpv4(client) ? client.subarray(12) : client)
}

const none = new Uint8Array(0)
const nothing: KeyReply = {
  ...{ rcode: Rcode.NoError, record: undefined, key: undefined },
  release: () => undefined,
}
const failed: KeyReply = { ...nothing, rcode: Rcode.ServFail }

const withError = (record: TkeyRecord, error: TkeyError): KeyReply => ({
  ...nothing,
  record: { ...record, key: none, error },
})

function faultOf(
  { principal, isMutual }: { readonly principal: string; readonly isMutual: boolean },
  { principalMax }: GssLimits,
): string | undefined {
  // RFC 3645 section 3.1.1. Without it a recorded token would bring the same key again.
  if (!isMutual) return 'the client does not ask for mutual authentication'
  // RFC 8062 section 3: it may have a realm of ours, in which a pattern would match it.
  if (principal.startsWith('WELLKNOWN/')) return 'the client is anonymous'
  return principal.length > principalMax ? 'the name of the principal is too long' : undefined
}
