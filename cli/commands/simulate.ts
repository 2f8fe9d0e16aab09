// `gslbd simulate`: shows what the server would answer to one question, and why.
import type { Bundle } from '#bundle/format/bundle.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { lenientPolicy } from '#settings/check-policy.ts'
import { createCompiler } from '#compiler/compile.ts'
import { printText } from '#diagnostics/print/text.ts'
import { formatName, parseName } from '#dns/name.ts'
import { rrTypeNames } from '#dns/rrtype.ts'
import { systemClock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import type { RoutingState } from '#routing/state/state.ts'
import { openBundleFile } from '#cli/files/bundle-file.ts'
import { commandLine, Exit, UsageError } from '#system/process/command.ts'
import type { Command } from '#system/process/command.ts'
import { hasConfiguration, readConfiguration } from '#gitops/checkout/config-directory.ts'
import { printSimulation } from '#judge/simulate/print.ts'
import { applyHealthFile, unknownMember } from '#judge/simulate/health.ts'
import type { AppliedHealth } from '#judge/simulate/health.ts'
import { readClient, readTime, readType } from '#judge/simulate/question-text.ts'
import { scriptsOf } from '#judge/simulate/scripts.ts'
import { showOverlays } from '#judge/simulate/overlays.ts'
import type { SimulatedOverlay } from '#judge/simulate/overlays.ts'
import { loadTables } from '#judge/simulate/tables.ts'
import { simulate } from '#judge/simulate/simulation.ts'

const usage = `Usage: gslbd simulate NAME [options]

Says what the server would answer to a query for NAME, and why. It is the server's own answer path
that is asked. What a change does to all clients: gslbd plan.

  --type TYPE       A (default), AAAA, SOA, NS, … or TYPE65
  --config PATH     the configuration directory (default: the current one)
  --bundle FILE     a compiled bundle instead
  --health FILE     JSON such as {"web-eu/192.0.2.10": false}: POOL/ADDRESS or TENANT/POOL/ADDRESS,
                    or {"healthy": true, "score": 0.5, "rttMs": 12} for a member, or its status
                    from the API; members that are not named are healthy
  --count N         count the shares of N answers in a row (default 1000, at most 10000000): how
                    often an address stood where in the answer
  --seed N          of the random numbers (default 1): the same seed gives the same answers
  --client ADDRESS  who asks; also a network such as 192.0.2.0/24, as resolvers send it
  --geoip FILE      a city or country database (MMDB)
  --asn FILE        a database of autonomous systems (MMDB)
  --at TIME         when, such as 2026-01-31T12:00:00Z (default: now); rollouts and maintenance
                    windows depend on it
  --format FORMAT   text (default) or json

Exit codes: 0 simulated, whatever the answer; 1 errors in configuration or bundle; 2 wrong call.`

const countMax = 10_000_000
const options = {
  type: { type: 'string', default: 'A' },
  config: { type: 'string' },
  bundle: { type: 'string' },
  health: { type: 'string' },
  geoip: { type: 'string' },
  asn: { type: 'string' },
  count: { type: 'string', default: '1000' },
  seed: { type: 'string', default: '1' },
  client: { type: 'string' },
  at: { type: 'string' },
  format: { type: 'string', default: 'text' },
} as const

interface Fault {
  readonly exit: Exit
  readonly message: string
}
const fault = (exit: Exit, message: string): Result<never, Fault> => err({ exit, message })

export const simulateCommand: Command = {
  name: 'simulate',
  summary: 'say what would be answered, and why',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, options)
    const asked = questionOf(positionals, values)
    const isJson = values.format === 'json'
    if (!isJson && values.format !== 'text') throw new UsageError('--format is text or json')
    const tables = loadTables(values)
    const side = tables.ok ? await prepare(values, asked.nowMs) : fault(Exit.Usage, tables.error)
    if (!side.ok || !tables.ok) {
      const { exit, message } = side.ok ? { exit: Exit.Internal, message: '' } : side.error
      io.err(`gslbd simulate: ${message}\n`)
      return exit
    }
    const scripts = scriptsOf([side.value.bundle], tables.value(side.value.bundle), asked.nowMs)
    const finish = async (): Promise<Exit> => {
      for (const text of scripts?.warnings() ?? []) io.err(`gslbd simulate: ${text}\n`)
      await scripts?.close()
      return Exit.Ok
    }
    const { bundle, state, overlays } = side.value
    const heading = {
      name: formatName(asked.qname),
      type: values.type.toUpperCase(),
      client: values.client ?? null,
      at: values.at === undefined ? null : new Date(asked.nowMs).toISOString(),
      seed: asked.seed,
    }
    const result = simulate(bundle, state, {
      ...asked,
      scripts,
      words: side.value.words,
      tables: tables.value(bundle),
    })
    io.out(
      isJson
        ? `${JSON.stringify({ ...heading, digest: bundle.digest, overlays, ...result }, null, 2)}\n`
        : printSimulation({ ...heading, overlays, nowMs: asked.nowMs }, result),
    )
    return await finish()
  },
}

interface Values {
  readonly type: string
  readonly seed: string
  readonly count: string
  readonly client?: string | undefined
  readonly at?: string | undefined
}

/** @throws UsageError when the words are no question */
function questionOf(positionals: readonly string[], values: Values) {
  const [text, ...rest] = positionals
  if (text === undefined) throw new UsageError('give one name')
  if (rest[0] !== undefined) throw new UsageError(surplusText(rest[0]))
  const qname = parseName(text)
  if (!qname.ok) throw new UsageError(`"${text}" is not a domain name (${qname.error})`)
  return {
    qname: qname.value,
    qtype: option('--type', readType(values.type)),
    seed: wholeNumber('--seed', values.seed, 0xffffffff),
    count: wholeNumber('--count', values.count, countMax),
    client: values.client === undefined ? null : option('--client', readClient(values.client)),
    nowMs: values.at === undefined ? systemClock.nowMs() : option('--at', readTime(values.at)),
  }
}

/** Suggests `--type`, since users of `dig` write the type after the name. */
function surplusText(word: string): string {
  const isType = Object.values(rrTypeNames).includes(word.toUpperCase())
  return `"${word}" is one too many: give one name${isType ? `, and --type ${word}` : ''}`
}

interface Sources {
  readonly config?: string | undefined
  readonly bundle?: string | undefined
  readonly health?: string | undefined
}

/** The bundle, and the state of a server at that time under the given health. */
async function prepare(sources: Sources, nowMs: number): Promise<Result<Side, Fault>> {
  if (sources.bundle !== undefined && sources.config !== undefined) {
    throw new UsageError('give --config or --bundle, not both')
  }
  const bundle =
    sources.bundle === undefined ? await compiled(sources.config ?? '.') : opened(sources.bundle)
  if (!bundle.ok) return bundle
  const side = sideOf(bundle.value, sources, nowMs)
  if (!side.ok) return side
  const [unknown] = side.value.unknownMembers
  if (unknown === undefined || sources.health === undefined) return side
  return fault(Exit.Usage, unknownMember(bundle.value, sources.health, unknown))
}

function sideOf(bundle: Bundle, { health }: Sources, nowMs: number): Result<Side, Fault> {
  const state = createRoutingState(bundle, 1)
  const applied = health === undefined ? ok(nothing) : applyHealthFile(bundle, state, health)
  if (!applied.ok) return fault(Exit.Usage, applied.error)
  const overlays = showOverlays(bundle, state, nowMs)
  return ok({
    bundle,
    state,
    overlays,
    unknownMembers: applied.value.unknown,
    words: applied.value.words,
  })
}

/** A configuration in the form in which a server has it. */
interface Side {
  readonly bundle: Bundle
  readonly state: RoutingState
  readonly overlays: readonly SimulatedOverlay[] | null
  readonly unknownMembers: readonly string[]
  readonly words: AppliedHealth['words']
}

const nothing: AppliedHealth = { unknown: [], words: new Map() }

function opened(path: string): Result<Bundle, Fault> {
  const bundle = openBundleFile(path)
  if (bundle.ok) return bundle
  return typeof bundle.error === 'string'
    ? fault(Exit.Usage, bundle.error)
    : fault(Exit.ErrorsFound, `${path}: ${bundle.error.message} (${bundle.error.code})`)
}

async function compiled(path: string): Promise<Result<Bundle, Fault>> {
  const files = await readConfiguration(path)
  if (!files.ok) return fault(Exit.Usage, files.error)
  if (!hasConfiguration(path)) {
    const remedy = 'go to a configuration directory, or name one with --config'
    return fault(Exit.ErrorsFound, `${path} holds neither gslb.yaml nor tenants/; ${remedy}`)
  }
  const result = createCompiler({ checkPolicy: lenientPolicy }).compile(files.value, { commit: '' })
  if (!result.ok) return fault(Exit.ErrorsFound, `${path} has errors\n${printText(result)}`)
  const loaded = loadBundle(result.bundle.bytes)
  return loaded.ok ? loaded : fault(Exit.Internal, loaded.error.message)
}

/** @throws UsageError that names the option */
function option<T>(name: string, read: Result<T, string>): T {
  if (!read.ok) throw new UsageError(`${name}: ${read.error}`)
  return read.value
}

function wholeNumber(option: string, text: string, most: number): number {
  if (/^\d{1,10}$/.test(text) && Number(text) <= most) return Number(text)
  throw new UsageError(`${option} is a whole number from 0 to ${most}, not "${text}"`)
}
