// Compares the answers of two sides to one question.
import { nodeFlags, textOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { NodeFlag } from '#bundle/format/cells.ts'
import { Family } from '#routing/state/query.ts'
import { formatName } from '#dns/name.ts'
import { rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { RrType } from '#dns/rrtype.ts'
import type { ClientSource } from '#judge/clients/cuts.ts'
import type { ClientClasses } from '#judge/clients/partition.ts'
import { sumMovement } from './movement.ts'
import type { Giver, MovementLimits, PlaceNames } from './movement.ts'
import type { MovedByPlace } from './places.ts'
import { policyLabel } from '#judge/rows/settings.ts'
import { ask } from '#judge/sides/ask.ts'
import type { SideAnswer } from '#judge/sides/ask.ts'
import { Chooser, Reach } from '#judge/sides/chooser.ts'
import { isNowhere, noAddress, Outcomes } from '#judge/sides/outcome.ts'
import type { Side } from '#judge/sides/side.ts'
import { seesTenant } from '#judge/sides/viewer.ts'
import type { Viewer } from '#judge/sides/viewer.ts'
import type {
  AnswerChange,
  ChangeKind,
  FamilyMovement,
  Movement,
  PlannedAnswer,
} from '#judge/document/model.ts'

interface ComparerParts {
  readonly base: Side
  readonly head: Side
  readonly partitions: ClientClasses
  readonly limits: MovementLimits
  /** Limits of the comparison; left out: there are none. */
  readonly work?: WorkLimits
  readonly placeNames: PlaceNames
  readonly viewer: Viewer
}

/** Limits for a comparison that a write waits for: see `Comparer.isSpent`. */
export interface WorkLimits {
  /** How many clients may be asked for. */
  readonly asksMax: number
  /** False: no table may be used that divides clients. */
  readonly takesTables: boolean
  /** How many rows may be read of tables that divide clients. */
  readonly rowsMax: number
}

/** Places listed for a movement, and movements for which they are listed. */
const placesMax = 50
const listingMax = 1_000

/** Movements and outcomes that are kept for names with equal answers. */
const knownMax = 4_096
const outcomesMax = 65_536

interface Compared {
  readonly isDifferent: boolean
  /** null: the comparison exceeds its limits. */
  readonly movement: Movement | null
}

const notCompared: Compared = Object.freeze({ isDifferent: false, movement: null })

/** A source of answers, with a key that is equal for equal answers. */
interface KeyedGiver extends Giver {
  readonly key: string
  readonly sources: () => readonly ClientSource[]
  readonly goesByPlaces: boolean
  readonly isMeasured: boolean
}

/** Compares the answers of two sides in one scenario. */
export class Comparer {
  /** Names of services that lack a database. */
  readonly withoutDatabase = new Set<string>()
  /** Names of services that choose by measurements of browsers, which a plan does not have. */
  readonly measured = new Set<string>()
  readonly #parts: ComparerParts
  #outcomes: Outcomes
  readonly #known = new Map<string, Compared>()
  /** How many movements there are, except changes from one way of answering nothing to another. */
  #moving = 0
  #asked = 0
  /** How many rows of tables were read to divide clients. */
  #walked = 0
  #isSpent = false
  #isDivided = false
  /** For IPv4 and for IPv6; empty: there is no database. */
  readonly #byCountry = new WeakMap<Movement, readonly MovedByPlace[]>()

  constructor(parts: ComparerParts) {
    this.#parts = parts
    this.#outcomes = new Outcomes(parts.viewer)
  }

  /** How many clients were asked for. */
  get asked(): number {
    return this.#asked
  }

  /** True when the comparison would exceed `work`, and was given up. */
  get isSpent(): boolean {
    return this.#isSpent
  }

  /**
   * True when it was given up since a table divides clients and none may be used, or since browsers
   * have measured.
   */
  get isDivided(): boolean {
    return this.#isDivided
  }

  /** @returns null: every client gets the same answer */
  compare(qname: Uint8Array, qtype: number): AnswerChange | null {
    const { base, head } = this.#parts
    const before = ask(base, qname, qtype)
    const after = ask(head, qname, qtype)
    const areRecordsOther =
      before.rcode !== after.rcode || textOfAnswer(before) !== textOfAnswer(after)
    const hasService = before.service >= 0 || after.service >= 0
    const sends = hasService || qtype === RrType.A || qtype === RrType.AAAA
    const compared =
      sends && (hasService || areRecordsOther) ? this.#move(before, after, qtype) : null
    // A service without candidates is NODATA, like a name without a service.
    const isMoved = compared?.isDifferent === true
    const isDifferent =
      isMoved || (areRecordsOther && !hasService) || doAliasesDiffer(before, after)
    if (!isDifferent) return null
    const name = formatName(qname)
    if (hasService) this.#note(name, before, after)
    return {
      name,
      type: rdataTypeOf(qtype).name,
      kind: kindOf(before, after),
      tenant: this.#tenantOf(before, after),
      before: this.#shown(base, before),
      after: this.#shown(head, after),
      movement: compared?.movement ?? null,
    }
  }

  /** For each address family; empty: there is no database, or the answer sends nobody anywhere. */
  byCountry({ movement }: AnswerChange): readonly MovedByPlace[] {
    return (movement === null ? undefined : this.#byCountry.get(movement)) ?? []
  }

  /** Empties the caches; what is needed again is computed again. */
  #forget(): void {
    if (this.#known.size < knownMax && this.#outcomes.all.length < outcomesMax) return
    this.#known.clear()
    this.#outcomes = new Outcomes(this.#parts.viewer)
  }

  #move(before: SideAnswer, after: SideAnswer, qtype: number): Compared {
    this.#forget()
    const { base, head, partitions, limits, placeNames } = this.#parts
    const one = this.#giverOf(base, before, qtype)
    const other = this.#giverOf(head, after, qtype)
    const key = `${one.key} → ${other.key}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const sources = [...one.sources(), ...other.sources()]
    if (!this.#mayAsk([one, other], sources)) return notCompared
    const outcomes = this.#outcomes
    const names = { ...placeNames, placesMax: this.#moving < listingMax ? placesMax : 0 }
    const more = [outcomes, limits, names] as const
    const [in4, in6] = [partitions.v4(sources), partitions.v6(sources)]
    if (!this.#mayAskFor(in4.weight.length + in6.weight.length)) return notCompared
    const v4 = sumMovement(one, other, in4, ...more)
    const v6 = sumMovement(one, other, in6, ...more)
    if (v4 === null || v6 === null) {
      this.#isDivided = this.#isSpent = true
      return notCompared
    }
    const movement = { ipv4: v4.movement, ipv6: v6.movement }
    const compared = { isDifferent: v4.isDifferent || v6.isDifferent, movement }
    this.#asked += v4.asked + v6.asked
    if (compared.isDifferent && [v4, v6].some(({ movement }) => !isOfNowhere(movement))) {
      this.#moving++
    }
    this.#known.set(key, compared)
    const byCountry = [v4, v6].flatMap((one) => one.byCountry ?? [])
    this.#byCountry.set(movement, byCountry)
    return compared
  }

  #mayAsk(givers: readonly KeyedGiver[], sources: readonly ClientSource[]): boolean {
    const { work, partitions } = this.#parts
    if (work === undefined) return true
    const isPlaced = sources.length > 0 || givers.some((one) => one.goesByPlaces)
    const isMeasured = givers.some((one) => one.isMeasured)
    if (isMeasured || (isPlaced && !work.takesTables)) this.#isDivided = true
    if (!this.#isDivided) this.#walked += partitions.rowsOf(sources)
    if (this.#walked > work.rowsMax || this.#isDivided) this.#isSpent = true
    return !this.#isSpent && this.#mayAskFor(0)
  }

  #mayAskFor(clients: number): boolean {
    const { work } = this.#parts
    if (work !== undefined && this.#asked + clients > work.asksMax) this.#isSpent = true
    return !this.#isSpent
  }

  #giverOf(side: Side, answer: SideAnswer, qtype: number): KeyedGiver {
    if (answer.service >= 0) {
      const family = qtype === RrType.AAAA && !isAliasAnswered(answer, side) ? Family.V6 : Family.V4
      return new Chooser(side, answer.service, family, qtype, this.#outcomes)
    }
    return this.#toEverybody(answer)
  }

  #toEverybody(answer: SideAnswer): KeyedGiver {
    const text = textOfAnswer(answer)
    const isEmpty = answer.rcode === 'NOERROR' && text === ''
    const member = memberOf(answer)
    const outcomes = this.#outcomes
    const none = { pool: '', tenant: '', region: '' }
    const outcome = outcomes.of(isEmpty ? 'none' : `answer ${answer.rcode} ${text}`, () => [
      { destination: outcomes.destination({ member, ...none }), probability: 1 },
    ])
    return {
      key: `answer ${outcome.number}`,
      reach: Reach.Class,
      sources: () => [],
      goesByPlaces: false,
      isMeasured: false,
      choose: () => outcome,
      ofNetworks: () => outcome,
      forNetworks: () => () => outcome,
    }
  }

  #tenantOf(before: SideAnswer, after: SideAnswer): string {
    const { base, head } = this.#parts
    const [{ bundle }, { service }] = after.service >= 0 ? [head, after] : [base, before]
    const tenant = service < 0 ? '' : tenantOf(bundle, service)
    return seesTenant(this.#parts.viewer, tenant) ? tenant : ''
  }

  #shown({ bundle }: Side, answer: SideAnswer): PlannedAnswer {
    const { rcode, records, others, ttlSeconds, service } = answer
    const isSeen = service >= 0 && seesTenant(this.#parts.viewer, tenantOf(bundle, service))
    const policy = isSeen ? policyLabel(bundle, bundle.serviceNode[service]!) : ''
    return { rcode, ttlSeconds, policy, records, others }
  }

  #note(name: string, before: SideAnswer, after: SideAnswer): void {
    for (const [side, { service }] of [
      [this.#parts.base, before],
      [this.#parts.head, after],
    ] as const) {
      if (service < 0) continue
      const chooser = new Chooser(side, service, Family.V4, RrType.A, this.#outcomes)
      if (chooser.wantsDatabase) this.withoutDatabase.add(name)
      if (chooser.isMeasured) this.measured.add(name)
    }
  }
}

function isAliasAnswered({ service }: SideAnswer, { bundle }: Side): boolean {
  return (nodeFlags(bundle, bundle.serviceNode[service]!) & NodeFlag.Alias) !== 0
}

function textOfAnswer({ records, others }: SideAnswer): string {
  return [...records, ...(others.length === 0 ? [] : ['--', ...others])].join('\n')
}

function doAliasesDiffer(before: SideAnswer, after: SideAnswer): boolean {
  const both = before.service >= 0 && after.service >= 0
  return both && before.records.join() !== after.records.join()
}

/**
 * Where clients go: to the first address of an answer, to the alias that leads out of all zones, or
 * to the addresses of a delegation.
 */
function memberOf({ rcode, records, others, isDenied }: SideAnswer): string {
  const dataOf = (text: string): string => text.split(' ').slice(4).join(' ')
  const isAddress = (text: string): boolean => / IN (A|AAAA) /.test(text)
  const first = records.find(isAddress) ?? (isDenied ? undefined : records.at(-1))
  if (first !== undefined) return dataOf(first)
  const beside = others.filter(isAddress)
  const delegation = records.length > 0 ? [] : beside.length > 0 ? beside : others
  if (delegation.length > 0) return delegation.map(dataOf).join(', ')
  return rcode === 'NOERROR' ? noAddress : rcode
}

function hasAnswer({ records, service, others }: SideAnswer): boolean {
  return records.length > 0 || service >= 0 || others.length > 0
}

function kindOf(before: SideAnswer, after: SideAnswer): ChangeKind {
  if (!hasAnswer(before) && hasAnswer(after)) return 'added'
  return hasAnswer(before) && !hasAnswer(after) ? 'removed' : 'changed'
}

function tenantOf(bundle: Bundle, service: number): string {
  return textOf(bundle, bundle.serviceTenant[service]!)
}

const isOfNowhere = ({ members }: FamilyMovement): boolean => members.every(isNowhere)
