// Explains a service in a simulation: its pool, its steps, the shares of its members.
import { addressOfMember, poolOfService, serviceCell, textOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { isAlias as isAliasMember } from '#bundle/format/hostnames.ts'
import { NodeCell } from '#bundle/format/cells.ts'
import { firstPolicyCode } from '#bundle/format/routing-cells.ts'
import { formatAddress } from '#dns/address.ts'
import { formatName } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import { assert } from '#lib/assert.ts'
import type { Chain } from '#routing/chain/chain.ts'
import { drawMany, explainPool } from '#routing/choose/explain.ts'
import type { ExplainedMember } from '#routing/choose/explain.ts'
import type { Policy } from '#routing/choose/policy.ts'
import { missingFor } from '#routing/choose/missing-geo.ts'
import { dividesByWeight } from '#routing/choose/way.ts'
import type { Way } from '#routing/choose/way.ts'
import type { GeoBuffers } from '#routing/geo/geo-tables.ts'
import { plainByCode, wayOfCode } from '#routing/choose/ways.ts'
import { Family } from '#routing/state/query.ts'
import type { RoutingQuery } from '#routing/state/query.ts'
import { drawManyByPolicy, traceChoice } from '#routing/choose/trace.ts'
import type { Trace } from '#routing/choose/trace.ts'
import type { Transaction } from '#answer/transaction.ts'
import { aliasLinks, answerRdata } from '#judge/sides/answer-records.ts'
import type { HealthDetails, SimulatedQuestion } from './question.ts'
import { placeOfClient } from './place.ts'
import type { SimulatedPlace } from './place.ts'
import type { ScriptNote } from './scripts.ts'

export interface SimulatedService {
  readonly name: string
  readonly tenant: string
  /** The algorithm, or the steps of the chain. */
  readonly algorithm: string
  /** null: the service has no pool. */
  readonly pool: string | null
  /** The pool that answers since the service's own has no candidates; null: its own answers. */
  readonly fallback: string | null
  readonly members: readonly SimulatedMember[]
  /** First address of the answer; null: there is no candidate, or the type has no addresses. */
  readonly pick: string | null
  /** All addresses of the answer in order. */
  readonly picks: readonly string[]
  /** All members that answers to this client may hold under this health, by rotation or chance. */
  readonly mayAnswer: readonly string[]
  readonly ttlSeconds: number
  /** Place of the client; null: no step uses it. */
  readonly clientPlace: SimulatedPlace | null
  /** null: the service has no policy, so its algorithm is one step. */
  readonly trace: SimulatedTrace | null
  readonly distribution: readonly SimulatedShare[]
}

/** A member, with the details of the health file. */
export type SimulatedMember = ExplainedMember & Partial<HealthDetails>

/** How often a member is in the answers to the same question, asked many times. */
interface SimulatedShare {
  readonly ipAddress: string
  /** Answers in which it is first. */
  readonly count: number
  /** Answers in which it is first, second, and so on. */
  readonly places: readonly number[]
}

/** The steps of an answer. Members are shown by address. */
interface SimulatedTrace {
  readonly candidates: readonly string[]
  /** null: no geo rule matches. */
  readonly geoRule: string | null
  readonly steps: readonly {
    readonly name: string
    readonly before: readonly string[]
    readonly after: readonly string[]
    readonly scopeBits: number
    /** Why a script changed nothing; null: it changed the candidates, or the step is no script. */
    readonly script: ScriptNote | null
    /** The geo database that the step needs and does not have. */
    readonly missing?: string
  }[]
}

/** The state after the answer, and its question. */
interface Answered {
  readonly tx: Transaction
  /** A chain that has not answered yet. */
  readonly again: Chain
  readonly service: number
  readonly question: SimulatedQuestion
  readonly message: Uint8Array
  /** The cursors before the answer. */
  readonly cursors: Int32Array
  /** For an alias: position of its record in the answer; -1: it is not there. */
  readonly record: number
}

export function explainService({
  tx,
  again,
  service,
  question,
  message,
  cursors,
  record,
}: Answered): SimulatedService {
  const { view } = tx
  assert(view !== undefined, 'a service is found in a bundle')
  const { bundle, state, policies } = view
  const pool = poolOfService(bundle, service)
  // An alias answers every type; its members are listed with IPv4.
  const isAlias = pool >= 0 && holdsAliases(bundle, pool)
  const family = isAlias ? Family.V4 : familyOf(question.qtype)
  const hasFamily = pool >= 0 && family !== undefined
  const code = serviceCell(bundle, service, NodeCell.Algorithm)
  const policy = policies[code - firstPolicyCode]
  const ways = policy?.ways ?? [wayOfCode(code)!]
  const hasTrace = hasFamily && policy !== undefined
  question.scripts?.takeNotes()
  state.serviceCursor.set(cursors)
  const trace = hasTrace ? traceFresh(tx, again, policy, pool, question.seed) : null
  const notes = question.scripts?.takeNotes() ?? []
  const shownPool = trace?.pool ?? pool
  const members = hasFamily
    ? explainPool(bundle, state, shownPool, family, dividesByWeight(ways))
    : []
  const picks = hasFamily ? picked({ tx, message, record, question }, members, isAlias) : []
  assert(!picks.includes(undefined), 'what is answered is a member')
  const query = { serviceIndex: service, poolIndex: pool, family: family ?? Family.V4 }
  const draws = hasFamily
    ? drawFresh(tx, again, policy, query, { ...question, cursors })
    : new Map<number, readonly number[]>()
  const possible = new Set([
    ...picks,
    ...[...draws.keys()].map((member) => addressOfMember(bundle, member)),
    ...takenByTurnOrDice(bundle, trace, members, code),
  ])
  const nameOfPool = (index: number): string => textOf(bundle, bundle.poolName[index]!)
  return {
    name: textOf(bundle, bundle.serviceName[service]!),
    tenant: textOf(bundle, bundle.serviceTenant[service]!),
    algorithm: ways.map(({ name }) => name).join(', '),
    pool: pool < 0 ? null : nameOfPool(pool),
    fallback: shownPool === pool ? null : nameOfPool(shownPool),
    members: members.map((member) => ({ ...member, ...question.words?.get(member.index) })),
    pick: picks[0] ?? null,
    picks: picks as string[],
    mayAnswer: members.map(({ ipAddress }) => ipAddress).filter((one) => possible.has(one)),
    ttlSeconds: serviceCell(bundle, service, NodeCell.TtlSeconds),
    clientPlace: placeOfClient(tx.chain, question.tables.geo, policy?.ways ?? []),
    trace: trace === null ? null : addressesOf(bundle, trace, notes, question.tables.geo),
    distribution: members
      .filter(({ index }) => draws.has(index))
      .map(({ index, ipAddress }) => {
        const places = draws.get(index)!
        return { ipAddress, count: places[0]!, places }
      }),
  }
}

/**
 * Finds members by the records of the answer.
 *
 * @returns undefined for an address that is no member's
 */
function picked(
  { tx, message, record, question }: Pick<Answered, 'tx' | 'message' | 'record' | 'question'>,
  members: readonly ExplainedMember[],
  isAlias: boolean,
): readonly (string | undefined)[] {
  const texts = isAlias
    ? aliasLinks(message, tx.answerCount).flatMap((one) =>
        one.record === record ? [formatName(one.target)] : [],
      )
    : answerRdata(message, tx.answerCount, question.qtype).map((octets) => formatAddress(octets))
  return texts.map((text) => members.find(({ ipAddress }) => ipAddress === text)?.ipAddress)
}

/**
 * Traces the steps on a fresh chain: the answer has used up randomness, and left its chain set up.
 */
function traceFresh(
  { chain }: Transaction,
  again: Chain,
  policy: Policy,
  pool: number,
  seed: number,
) {
  again.random.restart(seed)
  again.setUpAs(chain)
  again.wantsScope = chain.wantsScope
  return traceChoice(again, policy, pool)
}

/** @param notes one for each script step, in order */
function addressesOf(
  bundle: Bundle,
  trace: Trace,
  notes: readonly (ScriptNote | null)[],
  geo: GeoBuffers,
): SimulatedTrace {
  const left = [...notes]
  const texts = (members: readonly number[]): readonly string[] =>
    members.map((member) => addressOfMember(bundle, member))
  return {
    candidates: texts(trace.candidates),
    geoRule: trace.geoRuleMember < 0 ? null : addressOfMember(bundle, trace.geoRuleMember),
    steps: trace.steps.map(({ way, before, after, scopeBits }) => ({
      name: way.name,
      before: texts(before),
      after: texts(after),
      scopeBits,
      script: way.argument === 'BODY' ? (left.shift() ?? null) : null,
      ...missingOf(way, geo),
    })),
  }
}

function missingOf(way: Way, geo: GeoBuffers): { readonly missing?: string } {
  const missing = missingFor(way, geo)
  return missing === undefined ? {} : { missing: `there is no ${missing.noun}` }
}

/**
 * Adds members that rotation or chance may choose: a rare one may be in none of the drawn answers.
 */
function takenByTurnOrDice(
  bundle: Bundle,
  trace: Trace | null,
  members: readonly ExplainedMember[],
  code: number,
): readonly string[] {
  if (trace !== null) {
    const last = trace.steps.at(-1)
    const given = last?.way.picksAny === true ? last.before : []
    return given.map((member) => addressOfMember(bundle, member))
  }
  if (wayOfCode(code)?.picksAny !== true) return []
  return members.flatMap(({ standing, ipAddress }) => (standing === 'candidate' ? [ipAddress] : []))
}

/**
 * Draws answers from the state before the answer.
 *
 * @returns by member: how often it was at each place
 */
function drawFresh(
  tx: Transaction,
  again: Chain,
  policy: Policy | undefined,
  query: RoutingQuery,
  { seed, count, cursors }: SimulatedQuestion & Pick<Answered, 'cursors'>,
): ReadonlyMap<number, readonly number[]> {
  const { chain, view } = tx
  const { state, bundle } = view!
  state.serviceCursor.set(cursors)
  if (policy !== undefined) {
    return drawManyByPolicy(chain, policy, query.poolIndex, seed, count, again)
  }
  const code = serviceCell(bundle, query.serviceIndex, NodeCell.Algorithm)
  const picks = drawMany(state, plainByCode[code]!, query, seed, count)
  return new Map([...picks].map(([member, times]) => [member, [times]]))
}

function familyOf(qtype: number): Family | undefined {
  if (qtype === RrType.A) return Family.V4
  return qtype === RrType.AAAA ? Family.V6 : undefined
}

function holdsAliases(bundle: Bundle, pool: number): boolean {
  const first = bundle.poolMemberStart[pool]!
  return bundle.poolCount4[pool]! > 0 && bundle.hasHostnames && isAliasMember(bundle, first)
}
