// Explains an answer of the past: the one answer where it was certain, else all that it may have
// been, with their shares.
import { poolOfService, textOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { scriptsOf } from '#judge/simulate/scripts.ts'
import { SimulationMemory, simulate } from '#judge/simulate/simulation.ts'
import type { Simulation } from '#judge/simulate/simulation.ts'
import type { SimulatedService } from '#judge/simulate/service.ts'
import type { SimulatedClient } from '#judge/simulate/question.ts'
import { RrType } from '#dns/rrtype.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { Chooser } from '#judge/sides/chooser.ts'
import { noAddress, Outcomes } from '#judge/sides/outcome.ts'
import { CountedRandom } from '#judge/sides/side.ts'
import type { Side } from '#judge/sides/side.ts'
import { Chain } from '#routing/chain/chain.ts'
import { Client } from '#routing/chain/client.ts'
import { createEnvironment } from '#routing/choose/environment.ts'
import type { RoutingTables } from '#routing/choose/environment.ts'
import type { ScriptPort } from '#routing/script/port.ts'
import type { RoutingState } from '#routing/state/state.ts'
import type { Moment } from '#journal/moment.ts'
import type { GeoSetting } from '#inputs/geo/lower.ts'
import { replayState } from '#journal/replay.ts'
import { goesBy } from '#inputs/geo/databases.ts'

export interface PastQuestion {
  /** Name in wire form. */
  readonly qname: Uint8Array
  readonly qtype: number
  /** Client subnet of the query; null: there was none. */
  readonly client: SimulatedClient | null
  /** Source address of the query; left out: 0.0.0.0. */
  readonly source?: Uint8Array
  /** Random seed of the recorded answer, if the record has it. Default 1. */
  readonly seed?: number
  /** Types beside TXT that updates may write, by the settings of now. Default: none. */
  readonly writtenTypes?: readonly number[]
  /** Settings of databases that have changed since. Default: none. */
  readonly otherDatabases?: readonly GeoSetting[]
}

interface PastShare {
  /** Address, or host name of an alias. */
  readonly member: string
  readonly pool: string
  /** Share of answers in which it was first. */
  readonly probability: number
}

export interface PastAnswer {
  /**
   * True: neither chance nor rotation nor unrecorded data was involved, so `simulation` is the
   * answer that was given.
   */
  readonly isCertain: boolean
  /** Empty: no service answered, or unrecorded data decided. */
  readonly shares: readonly PastShare[]
  /** All addresses that the answer may have had, in the order of the file. */
  readonly mayAnswer: readonly string[]
  /** The answer, or one of the possible ones. */
  readonly simulation: Simulation
  /** Sentences about what is no longer known of that time. */
  readonly unknown: readonly string[]
}

/** Memory that explanations share: making it costs more than a question. */
export class PastMemory {
  readonly simulation = new SimulationMemory()
  readonly random = new CountedRandom(1)
  readonly chain = new Chain(this.random)
}

/** Simulated answers for shares of the places after the first. */
const draws = 1_000

/**
 * Replays a single query: bundle, instant (with its health), client and seed determine the answer.
 * Errors: a clause.
 */
export async function explainPast(
  bundle: Bundle,
  moment: Moment,
  tables: RoutingTables,
  question: PastQuestion,
  memory = new PastMemory(),
): Promise<Result<PastAnswer, string>> {
  const state = replayState(bundle, moment)
  if (!state.ok) return state
  const scripts = scriptsOf([bundle], tables, moment.atMs)
  const { qname, qtype, client, source, seed = 1 } = question
  const asked = {
    ...{ qname, qtype, client, seed, count: draws, tables, scripts },
    ...(source === undefined ? {} : { source }),
  }
  const simulation = simulate(bundle, state.value, asked, memory.simulation)
  const past = { bundle, state: state.value, tables, scripts, memory }
  const shared = sharesOf(past, simulation, question)
  await scripts?.close()
  return ok(shared)
}

interface Past {
  readonly bundle: Bundle
  readonly state: RoutingState
  readonly tables: RoutingTables
  readonly scripts: ScriptPort | null
  /** The transaction of this call has just given the answer. */
  readonly memory: PastMemory
}

function sharesOf(then: Past, simulation: Simulation, question: PastQuestion): PastAnswer {
  const { service } = simulation
  const family = question.qtype === RrType.AAAA ? 1 : 0
  const isAddress = question.qtype === RrType.A || question.qtype === RrType.AAAA
  const row = service === null ? -1 : serviceNamed(then.bundle, service)
  const isChosen = isAddress && row >= 0 && poolOfService(then.bundle, row) >= 0
  const unsure = mayBeWritten(simulation, question) ? [writtenSentence] : []
  if (!isChosen || service === null) {
    const isCertain = unsure.length === 0
    return { isCertain, shares: [], mayAnswer: [], simulation, unknown: unsure }
  }
  const outcomes = new Outcomes(null)
  const chooser = new Chooser(sideOf(then), row, family, question.qtype, outcomes)
  const client = clientOf(question)
  const outcome = chooser.choose(Int32Array.from(client.words), client.isIpv6)
  const shares = outcome.shares.flatMap(({ destination, probability }) => {
    const { member, pool } = outcomes.destinations[destination]!
    return probability > 0 ? [{ member, pool, probability }] : []
  })
  const named = shares.filter(({ member }) => member !== noAddress)
  const possible = new Set([...service.mayAnswer, ...named.map(({ member }) => member)])
  const { sentences, mayAnswer } = unknownChoices(chooser, service, question)
  const isKnown = sentences.length === 0
  return {
    isCertain: shares.length === 1 && isKnown && unsure.length === 0,
    shares: isKnown ? named : [],
    mayAnswer: isKnown ? [...possible] : mayAnswer,
    simulation,
    unknown: [...sentences, ...unsure],
  }
}

interface UnknownChoices {
  readonly sentences: readonly string[]
  /** Addresses that such a step may have taken. */
  readonly mayAnswer: readonly string[]
}

/** Steps that used unrecorded data. A geo rule decides before any step. */
function unknownChoices(
  { ways }: Chooser,
  { trace }: SimulatedService,
  { otherDatabases = [] }: PastQuestion,
): UnknownChoices {
  const nothing: UnknownChoices = { sentences: [], mayAnswer: [] }
  // A single candidate is taken in any case.
  if (trace === null || trace.geoRule !== null || trace.candidates.length < 2) return nothing
  const elsewhere = ways.filter((way) => goesBy(way, otherDatabases))
  if (elsewhere.length > 0) {
    const sentences = elsewhere.map(
      ({ name }) => `the step ${name} goes by it: it may have taken any candidate`,
    )
    return { sentences, mayAnswer: trace.candidates }
  }
  // The candidates before the step are known.
  const { before = [] } = trace.steps.find(({ name }) => name === 'rum') ?? {}
  return before.length < 2 ? nothing : { sentences: [measuredSentence], mayAnswer: before }
}

/** Whether records written at run time may have changed the answer. */
function mayBeWritten(
  { zone, rule, match, referral, service, records }: Simulation,
  { qtype, writtenTypes = [] }: PastQuestion,
): boolean {
  const isRuled = rule !== null && rule.action !== 'passthru'
  if (zone === null || isRuled || referral !== null) return false
  if (match !== 'exact' || qtype === RrType.TXT || qtype === RrType.ANY) return true
  // What the configuration has is never written: a service is all addresses of its name.
  if (records.length > 0) return false
  if (service !== null && (qtype === RrType.A || qtype === RrType.AAAA)) return false
  const types = service === null ? [qtype, RrType.CNAME] : [qtype]
  return types.some((type) => writtenTypes.includes(type))
}

const writtenSentence =
  'which records had been written at run time is not in the journal: with one at this name the ' +
  'answer was another one'

const measuredSentence =
  'what browsers had measured is not in the journal: the step rum may have taken any candidate'

function clientOf(question: PastQuestion): Client {
  const one = new Client()
  const octets = addressOf(question)
  one.set(octets, 0, octets.length)
  return one
}

const addressOf = ({ client, source }: PastQuestion): Uint8Array =>
  client?.octets ?? source ?? new Uint8Array(4)

function serviceNamed(
  bundle: Bundle,
  { name, tenant }: { readonly name: string; readonly tenant: string },
): number {
  for (let row = 0; row < bundle.counts.services; row++) {
    const isName = textOf(bundle, bundle.serviceName[row]!) === name
    if (isName && textOf(bundle, bundle.serviceTenant[row]!) === tenant) return row
  }
  return -1
}

function sideOf({ bundle, state, tables, scripts, memory }: Past): Side {
  const { random, chain } = memory
  const { tx } = memory.simulation
  random.restart(1)
  chain.adopt(bundle, state, tables.networks ?? null)
  chain.qname = tx.qname
  const environment = createEnvironment(bundle, tables, scripts)
  return { bundle, tables, state, environment, tx, chain, random, unknownMembers: [] }
}
