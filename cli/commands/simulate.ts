// `gslbd simulate`: shows what the server would answer to one question, and why.
import type { Bundle } from '#bundle/format/bundle.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { lenientPolicy } from '#settings/check-policy.ts'
import { createCompiler } from '#compiler/compile.ts'
import { printErrors } from '#diagnostics/print/text.ts'
import { formatName, parseName } from '#dns/name.ts'
import { rrTypeNames } from '#dns/rrtype.ts'
import { systemClock } from '#lib/clock.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import type { RoutingState } from '#routing/state/state.ts'
import { bundleIn } from '#cli/files/bundle-file.ts'
import {
  CommandFault,
  commandLine,
  Exit,
  needed,
  optionValue,
  UsageError,
  wholeNumber,
} from '#system/process/command.ts'
import type { Command, ValuesOf } from '#system/process/command.ts'
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

type Values = ValuesOf<typeof options>

export const simulateCommand: Command = {
  name: 'simulate',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, options)
    const asked = questionOf(positionals, values)
    const isJson = values.format === 'json'
    if (!isJson && values.format !== 'text') throw new UsageError('--format is text or json')
    const tablesOf = needed(loadTables(values), Exit.Usage)
    const { bundle, state, overlays, words } = await prepare(values, asked.nowMs)
    const tables = tablesOf(bundle)
    const scripts = scriptsOf([bundle], tables, asked.nowMs)
    const heading = {
      name: formatName(asked.qname),
      type: values.type.toUpperCase(),
      client: values.client ?? null,
      at: values.at === undefined ? null : new Date(asked.nowMs).toISOString(),
      seed: asked.seed,
    }
    const result = simulate(bundle, state, { ...asked, scripts, words, tables })
    io.out(
      isJson
        ? `${JSON.stringify({ ...heading, digest: bundle.digest, overlays, ...result }, null, 2)}\n`
        : printSimulation({ ...heading, overlays, nowMs: asked.nowMs }, result),
    )
    for (const text of scripts?.warnings() ?? []) io.err(`gslbd simulate: ${text}\n`)
    await scripts?.close()
    return Exit.Ok
  },
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
    qtype: optionValue('--type', readType(values.type)),
    seed: wholeNumber('--seed', values.seed, 0, 0xffffffff),
    count: wholeNumber('--count', values.count, 0, countMax),
    client: values.client === undefined ? null : optionValue('--client', readClient(values.client)),
    nowMs: values.at === undefined ? systemClock.nowMs() : optionValue('--at', readTime(values.at)),
  }
}

/** Suggests `--type`, since users of `dig` write the type after the name. */
function surplusText(word: string): string {
  const isType = Object.values(rrTypeNames).includes(word.toUpperCase())
  return `"${word}" is one too many: give one name${isType ? `, and --type ${word}` : ''}`
}

/** The bundle, and the state of a server at that time under the given health. */
async function prepare({ bundle: file, config, health }: Values, nowMs: number): Promise<Side> {
  if (file !== undefined && config !== undefined) {
    throw new UsageError('give --config or --bundle, not both')
  }
  const bundle = file === undefined ? await compiled(config ?? '.') : bundleIn(file)
  const state = createRoutingState(bundle, 1)
  const { words, unknown } =
    health === undefined
      ? { words: new Map<never, never>(), unknown: [] }
      : needed(applyHealthFile(bundle, state, health), Exit.Usage)
  const [stranger] = unknown
  if (stranger !== undefined && health !== undefined) {
    throw new CommandFault(Exit.Usage, unknownMember(bundle, health, stranger))
  }
  return { bundle, state, overlays: showOverlays(bundle, state, nowMs), words }
}

/** A configuration in the form in which a server has it. */
interface Side {
  readonly bundle: Bundle
  readonly state: RoutingState
  readonly overlays: readonly SimulatedOverlay[] | null
  readonly words: AppliedHealth['words']
}

async function compiled(path: string): Promise<Bundle> {
  const files = needed(await readConfiguration(path), Exit.Usage)
  if (!hasConfiguration(path)) {
    const remedy = 'go to a configuration directory, or name one with --config'
    const why = `${path} holds neither gslb.yaml nor tenants/; ${remedy}`
    throw new CommandFault(Exit.ErrorsFound, why)
  }
  const result = createCompiler({ checkPolicy: lenientPolicy }).compile(files, { commit: '' })
  if (!result.ok) {
    throw new CommandFault(Exit.ErrorsFound, `${path} has errors\n${printErrors(result)}`)
  }
  return needed(loadBundle(result.bundle.bytes), Exit.Internal)
}
