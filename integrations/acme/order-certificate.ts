// One certificate from a CA by RFC 8555: account, order, proofs of the names, the certificate.
import { X509Certificate } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Authorization, Client, Order } from 'acme-client'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { AcmeClient, acmeCrypto } from './acme-client.ts'
import { acmeStateLimits } from './acme-state.ts'
import type { AcmeAccount } from './acme-state.ts'
import { CaTransport } from './ca-transport.ts'
import type { CaProblem } from './ca-transport.ts'
import { certificateId } from './certificate-id.ts'
import { newPrivateKey } from './private-key.ts'

export type ChallengeType = 'dns-01' | 'http-01'

export interface Proof {
  readonly type: ChallengeType
  /** Lower case, without the `*.` of a wildcard. */
  readonly name: string
  readonly token: string
  /** What is to be published: RFC 8555 sections 8.3 and 8.4. */
  readonly value: string
}

export interface ChallengeSolver {
  /** Errors: a sentence why none can prove this name. */
  readonly typeFor: (name: string, isWildcard: boolean) => Result<ChallengeType, string>
  /** Resolves when all nodes answer them. Errors: a sentence. */
  readonly publish: (proofs: readonly Proof[], signal: AbortSignal) => Promise<Result<null, string>>
  /** Takes away what was published; called in any case, and again: what fails is tried then. */
  readonly withdraw: () => Promise<void>
}

/** What a CA knows a customer by. RFC 8555 section 7.3.4. */
export interface ExternalAccount {
  readonly kid: string
  /** Base64url. A secret. */
  readonly hmacKey: string
}

export interface CertificateOrder {
  readonly directory: string
  readonly names: readonly string[]
  /** E-mail addresses. */
  readonly contact: readonly string[]
  readonly agreesToTerms: boolean
  readonly account: AcmeAccount
  /** undefined: the account is of nobody whom the CA knows. */
  readonly externalAccount: ExternalAccount | undefined
  /** PEM of the certificate that it follows, for a CA that knows of renewals (RFC 9773). */
  readonly replaces: string | undefined
  /** PEM of the authorities of the CA itself; undefined: those of Node. */
  readonly ca: string | undefined
  readonly solver: ChallengeSolver
  readonly signal: AbortSignal
  readonly nowMs: () => number
}

export interface OrderedCertificate {
  readonly chain: string
  readonly key: string
  readonly notBeforeMs: number
  readonly notAfterMs: number
}

export interface OrderEnd {
  readonly result: Result<OrderedCertificate, CaProblem>
  /** How far the clock of this node is ahead (+) of that of the CA; null: not known. */
  readonly clockOffsetMs: number | null
}

export type OrderCertificate = (order: CertificateOrder) => Promise<OrderEnd>

/** Between two looks at what the CA has found; the last one is repeated. */
const looksMs = [500, 1_000, 2_000, 3_000, 5_000]
/** A CA that has found nothing by then will not. */
const patienceMs = 180_000

export const orderCertificate: OrderCertificate = async (order) => {
  const { ca, signal, nowMs, solver } = order
  const transport = new CaTransport({ ca, signal, nowMs })
  const end = async (): Promise<Result<OrderedCertificate, CaProblem>> => {
    try {
      const done = await transport.run(() => new Ordering(order, transport).run())
      return done.ok
        ? checked(done.value)
        : err({ ...noWait, code: 'challenge', message: done.error })
    } catch (error) {
      const { message } = error as Error
      return err(withAdvice(transport.problem ?? { ...noWait, code: 'away', message }))
    } finally {
      await solver.withdraw()
    }
  }
  return { result: await end(), clockOffsetMs: transport.clockOffsetMs }
}

const noWait = { retryAfterMs: null } as const

/** What a CA says does not name the setting. */
function withAdvice(problem: CaProblem): CaProblem {
  if (problem.code !== 'externalAccountRequired') return problem
  const message = `${problem.message}; write acme.eab, with what the CA gave you for your account`
  return { ...problem, message }
}

class Ordering {
  readonly #order: CertificateOrder
  readonly #client: Client

  readonly #transport: CaTransport

  constructor(order: CertificateOrder, transport: CaTransport) {
    this.#order = order
    this.#transport = transport
    this.#client = new AcmeClient({
      directoryUrl: order.directory,
      accountKey: order.account.key,
      ...(order.externalAccount && { externalAccountBinding: order.externalAccount }),
    })
  }

  /** @throws what the client says, or the transport. Errors: a sentence of the solver */
  async run(): Promise<Result<Omit<OrderedCertificate, 'notBeforeMs' | 'notAfterMs'>, string>> {
    const { names, contact, agreesToTerms, signal } = this.#order
    // With a key that it knows, the CA gives the account that there is.
    await this.#client.createAccount({
      termsOfServiceAgreed: agreesToTerms,
      contact: contact.map((address) => `mailto:${address}`),
    })
    const identifiers = names.map((value) => ({ type: 'dns', value }))
    const order = await this.#create(identifiers)
    const authorizations = await this.#client.getAuthorizations(order)
    const open = authorizations.filter(({ status }) => status !== 'valid')
    const proven = await this.#prove(open)
    if (!proven.ok) return proven
    const key = newPrivateKey()
    const [, request] = await acmeCrypto.createCsr({ altNames: [...names] }, key)
    const ready = await this.#wait(order, 'pending')
    const finalized = await this.#client.finalizeOrder(ready, request)
    const valid = await this.#wait(finalized, 'processing', 'pending', 'ready')
    signal.throwIfAborted()
    return ok({ chain: await this.#client.getCertificate(valid), key })
  }

  /** A CA may have forgotten what is replaced (RFC 9773 section 5), or want nothing said of it. */
  async #create(identifiers: Order['identifiers']): Promise<Order> {
    const { replaces } = this.#order
    const id = replaces === undefined ? null : certificateId(replaces)
    if (id === null) return await this.#client.createOrder({ identifiers })
    try {
      const order = { identifiers, replaces: id }
      return await this.#client.createOrder(order)
    } catch (error) {
      const { code = 'away' } = this.#transport.problem ?? {}
      if (code === 'away' || code === 'rateLimited') throw error
      return await this.#client.createOrder({ identifiers })
    }
  }

  async #prove(open: readonly Authorization[]): Promise<Result<null, string>> {
    const { solver, signal } = this.#order
    const proofs: Proof[] = []
    const challenges: Authorization['challenges'] = []
    for (const { identifier, wildcard = false, challenges: offered } of open) {
      const name = identifier.value.toLowerCase()
      const type = solver.typeFor(name, wildcard)
      if (!type.ok) return type
      const challenge = offered.find((one) => one.type === type.value)
      if (challenge === undefined) return err(`the CA does not take ${type.value} of ${name}`)
      const value = await this.#client.getChallengeKeyAuthorization(challenge)
      proofs.push({ type: type.value, name, token: challenge.token, value })
      challenges.push(challenge)
    }
    const published = await solver.publish(proofs, signal)
    if (!published.ok) return published
    for (const challenge of challenges) await this.#client.completeChallenge(challenge)
    for (const authorization of open) await this.#waitForProof(authorization)
    return ok(null)
  }

  async #waitForProof({ url, identifier }: Authorization): Promise<void> {
    await this.#poll(async () => {
      const list = { authorizations: [url] } as unknown as Order
      const [found] = await this.#client.getAuthorizations(list)
      if (found?.status === 'valid') return found
      if (found?.status === 'pending') return undefined
      throw new Error(
        `the CA does not believe ${identifier.value}: ${found?.status ?? 'no answer'}`,
      )
    })
  }

  /** @throws where it becomes another status than `valid` or what follows `until` */
  async #wait(order: Order, ...until: readonly Order['status'][]): Promise<Order> {
    return await this.#poll(async () => {
      const found = await this.#client.getOrder(order)
      if (found.status === 'invalid') throw new Error('the CA calls the order invalid')
      return until.includes(found.status) ? undefined : found
    })
  }

  async #poll<T>(look: () => Promise<T | undefined>): Promise<T> {
    const { signal } = this.#order
    let waitedMs = 0
    for (let tries = 0; waitedMs < patienceMs; tries++) {
      const found = await look()
      if (found !== undefined) return found
      const pauseMs = looksMs[Math.min(tries, looksMs.length - 1)]!
      await delay(pauseMs, undefined, { signal })
      waitedMs += pauseMs
    }
    throw new Error(`the CA has found nothing within ${patienceMs / 1_000} s`)
  }
}

/** What is stored and served was read: a chain of a CA may be anything. */
function checked({
  chain,
  key,
}: Pick<OrderedCertificate, 'chain' | 'key'>): Result<OrderedCertificate, CaProblem> {
  const fault = (message: string) => err({ ...noWait, code: 'badCertificate', message })
  if (chain.length > acmeStateLimits.chainMax) return fault('the chain of the CA is too long')
  try {
    const certificate = new X509Certificate(chain)
    const [from, to] = [certificate.validFromDate.getTime(), certificate.validToDate.getTime()]
    return ok({ chain, key, notBeforeMs: from, notAfterMs: to })
  } catch {
    return fault('what the CA gives is no certificate')
  }
}
