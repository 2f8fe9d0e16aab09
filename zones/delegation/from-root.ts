// Finds name servers without a resolver, by walking down from the root. RFC 1034 section 5.3.3.
import { RrType } from '#dns/rrtype.ts'
import type { Clock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Refusal } from './exchange.ts'
import { delegationLimits } from './limits.ts'
import type { FoundZone, ZoneFinder } from './zone-finder.ts'
import { isInside } from './zone-finder.ts'
import type { Questions } from './questions.ts'
import type { Answered, AnsweredRecord } from './response.ts'
import type { ServerName } from './root-hints.ts'

interface RootWalkParts {
  readonly hints: readonly ServerName[]
  readonly clock: Clock
}

/** How long servers of zones with at most one label are cached. */
const keptMs = 3_600_000
const keptMax = 2_000

/** Shared by all checks of a node. */
export class RootWalk {
  readonly #parts: RootWalkParts
  readonly #kept = new Map<string, { readonly zone: FoundZone; readonly untilMs: number }>()

  constructor(parts: RootWalkParts) {
    this.#parts = parts
  }

  finder(questions: Questions): ZoneFinder {
    const walk = new Walk(questions, (name) => this.#find(name), this.#keep)
    return {
      parentOf: async (domain) => {
        const end = await walk.to(domain, RrType.NS, [], domain)
        return end.ok ? ok(end.value.zone) : end
      },
      addressesOf: (name) => walk.addressesOf(name, []),
    }
  }

  #find(name: string): FoundZone {
    const nowMs = this.#parts.clock.monotonicMs()
    const topLevel = name.split('.').at(-2) ?? ''
    const kept = this.#kept.get(`${topLevel}.`)
    if (kept !== undefined && kept.untilMs > nowMs && name !== kept.zone.name) return kept.zone
    return { name: '.', servers: this.#parts.hints }
  }

  readonly #keep = (zone: FoundZone): void => {
    if (zone.name.split('.').length !== 2) return
    this.#kept.delete(zone.name)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size >= keptMax && oldest !== undefined) this.#kept.delete(oldest)
    this.#kept.set(zone.name, { zone, untilMs: this.#parts.clock.monotonicMs() + keptMs })
  }
}

interface Reached {
  readonly zone: FoundZone
  readonly answered: Answered
}

/** One walk from the root down to the servers of a zone; each check makes its own. */
class Walk {
  readonly #questions: Questions
  readonly #start: (name: string) => FoundZone
  readonly #keep: (zone: FoundZone) => void
  /**
   * Completed lookups only: two lookups that wait for each other, since the zone of each is served
   * by the other's name, would never end.
   */
  readonly #addresses = new Map<string, readonly string[]>()

  constructor(
    questions: Questions,
    start: (name: string) => FoundZone,
    keep: (zone: FoundZone) => void,
  ) {
    this.#questions = questions
    this.#start = start
    this.#keep = keep
  }

  /**
   * @param within names whose addresses are being looked up for this one, outermost first
   * @param cut a referral to this zone is not followed
   */
  async to(
    name: string,
    type: number,
    within: readonly string[],
    cut: string,
  ): Promise<Result<Reached, Refusal>> {
    let zone = this.#start(name)
    for (let steps = 0; steps < delegationLimits.referralsMax; steps++) {
      const asked = await this.#askZone(zone, name, type, within)
      if (!asked.ok) return asked
      const next = referralIn(asked.value)
      if (next === undefined || next.name === cut) {
        return ok({ zone, answered: asked.value })
      }
      this.#keep(next)
      zone = next
    }
    return err({ code: 'parent-unknown', why: 'is reached by too many referrals' })
  }

  /** Empty: unknown, or only known to servers reached through this name itself. */
  async addressesOf(name: string, within: readonly string[]): Promise<readonly string[]> {
    const known = this.#addresses.get(name)
    if (known !== undefined) return known
    if (within.includes(name) || within.length >= delegationLimits.depthMax) return []
    const found: string[] = []
    for (const type of [RrType.A, RrType.AAAA]) {
      const end = await this.to(name, type, [...within, name], '')
      if (!end.ok) continue
      const own = end.value.answered.answer.filter((one) => one.owner === name && one.type === type)
      found.push(...own.map(({ text }) => text))
    }
    const some = found.slice(0, delegationLimits.addressesMax)
    if (some.length > 0) this.#addresses.set(name, some)
    return some
  }

  /** The first usable answer of a zone's servers. */
  async #askZone(
    zone: FoundZone,
    name: string,
    type: number,
    within: readonly string[],
  ): Promise<Result<Answered, Refusal>> {
    let last: Refusal = { code: 'parent-unknown', why: 'has no address' }
    for (const server of zone.servers.slice(0, delegationLimits.triesMax)) {
      const { addresses } = server
      const known = addresses.length > 0 ? addresses : await this.addressesOf(server.name, within)
      for (const address of known.slice(0, 2)) {
        const asked = await this.#questions.ask(address, name, type)
        if (asked.ok && leadsDown(asked.value, zone, name)) return asked
        last = asked.ok ? { code: 'wrong-referral', why: 'leads elsewhere' } : asked.error
      }
    }
    const why = `is below ${zone.name}, of which no server helps: the last one ${last.why}`
    return err({ code: 'parent-unknown', why })
  }
}

/** A referral must lead deeper and towards the name, so that there is no loop. */
function leadsDown(answered: Answered, zone: FoundZone, name: string): boolean {
  const next = referralIn(answered)
  if (next === undefined) return true
  return next.name !== zone.name && isInside(next.name, zone.name) && isInside(name, next.name)
}

/** undefined: the answer is not a referral. */
function referralIn(answered: Answered): FoundZone | undefined {
  const { isAuthoritative, answer, authority } = answered
  const cut = authority.find(({ type }) => type === RrType.NS)
  if (isAuthoritative || answer.length > 0 || cut === undefined) return undefined
  return { name: cut.owner, servers: serversIn(authority, cut.owner, answered.additional) }
}

/** The NS records of a zone, with addresses from the same message. */
export function serversIn(
  section: readonly AnsweredRecord[],
  zone: string,
  additional: readonly AnsweredRecord[],
): readonly ServerName[] {
  const names = section
    .filter(({ type, owner }) => type === RrType.NS && owner === zone)
    .map(({ text }) => text)
  return [...new Set(names)].slice(0, delegationLimits.serversMax).map((name) => ({
    name,
    addresses: additional
      .filter(({ type, owner }) => owner === name && (type === RrType.A || type === RrType.AAAA))
      .map(({ text }) => text)
      .slice(0, delegationLimits.addressesMax),
  }))
}
