// `gslbd export`: writes a zone of a configuration, or its response rules, as a zone file.
import { isAbsentZone } from '#bundle/load/absent-zones.ts'
import { nameOfZone } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import type { BundleModel } from '#bundle/format/model.ts'
import { adoptBundle, loadBundle } from '#bundle/load/load.ts'
import { encodeWritten } from '#zones/dynamic/written-bundle.ts'
import { writtenSnapshot } from '#zones/dynamic/written-records.ts'
import { exportRpz } from '#zones/export/rpz-export.ts'
import { exportZone } from '#zones/export/zone-export.ts'
import type { ZoneExport } from '#zones/export/zone-export.ts'
import { bundleIn } from '#cli/files/bundle-file.ts'
import { readWrittenRecords } from '#cli/files/written-records-file.ts'
import { checkPolicyOf, checkPolicyOptions, checkPolicyUsage } from '#settings/check-policy.ts'
import { readConfiguration } from '#gitops/checkout/config-directory.ts'
import { CommandFault, commandLine, Exit, needed, UsageError } from '#system/process/command.ts'
import type { Command, Io, ValuesOf } from '#system/process/command.ts'
import { createCompiler } from '#compiler/compile.ts'
import { printText, summary } from '#diagnostics/print/text.ts'
import { formatName, parseName } from '#dns/name.ts'
import { anyReader, zoneReaders } from '#dns/zone-file/zone-readers.ts'
import type { ZoneReader } from '#dns/zone-file/zone-readers.ts'
import { zoneLines } from '#dns/zone-file/zone-writer.ts'
import type { HealthCheckPolicy } from '#compiler/values/health-check-policy.ts'
import { didYouMean } from '#lib/suggest.ts'

const readerNames = zoneReaders.map(({ name }) => name).join(', ')
const usage = `Usage: gslbd export zone NAME [options]
       gslbd export rpz [options]

Prints the zone NAME of a configuration as a zone file (RFC 1035): SOA, name servers, all static
records, and of balanced names the addresses of every enabled member. Host names of members, which
each node resolves, are named in comments. With rpz: the response rules of a configuration, as a
response policy zone for resolvers.

  --config PATH       the configuration directory (default: .)
  --bundle FILE       a compiled bundle instead
  --written FILE      with the records written at run time, as GET /dns/written-records lists them
  --serial N          serial of the SOA record (default: serialBase and 1); nodes count the commits
  --for READER        the server that reads the zone; without it, what all of them read:
                      ${readerNames}
  --origin NAME       name of the policy zone (default: rpz.)
  --source NAME       only response rules of this source
${checkPolicyUsage}

Exit codes: 0 printed; 1 errors in configuration or bundle, or no such zone; 2 wrong call or
unreadable path.`

const serialMax = 4_294_967_295

const options = {
  config: { type: 'string' },
  bundle: { type: 'string' },
  serial: { type: 'string' },
  written: { type: 'string' },
  for: { type: 'string' },
  origin: { type: 'string' },
  source: { type: 'string' },
  ...checkPolicyOptions,
} as const

export const exportCommand: Command = {
  name: 'export',
  usage,
  run: async (args, io) => {
    const { positionals, values } = commandLine(args, options)
    const [word, text, ...rest] = positionals
    const what = whatOf(word, text, rest)
    const isZone = what.is === 'zone'
    if (isZone && (values.origin ?? values.source) !== undefined) {
      throw new UsageError('--origin and --source are for rpz')
    }
    if (!isZone && values.written !== undefined) throw new UsageError('--written is for a zone')
    const reader = readerNamed(values.for)
    const serial = serialOf(values.serial)
    if (values.bundle !== undefined && values.config !== undefined) {
      throw new UsageError('give --config or --bundle, not both')
    }
    if (!isZone && values.bundle !== undefined) throw new UsageError('--bundle is for a zone')
    const policy = checkPolicyOf(values)
    const source =
      values.bundle === undefined
        ? await compiled(values.config ?? '.', policy, io)
        : { bundle: bundleIn(values.bundle), rules: [] }
    const written = writtenFor(source.bundle, values.written)
    const { remarks, origin, records } =
      what.is === 'zone'
        ? zoneOf(source.bundle, { name: what.name, serial, written })
        : rpzOf(source.rules, serial ?? 1, values)
    for (const remark of remarks) io.out(`; ${remark}\n`)
    for (const line of zoneLines(records, { origin, names: 'relative', reader })) io.out(line)
    return Exit.Ok
  },
}

function readerNamed(name: string | undefined): ZoneReader {
  if (name === undefined) return anyReader
  const reader = zoneReaders.find((one) => one.name === name)
  if (reader !== undefined) return reader
  throw new UsageError(`--for is one of ${readerNames}`)
}

type What = { readonly is: 'zone'; readonly name: string } | { readonly is: 'rpz' }

function whatOf(word: string | undefined, text: string | undefined, rest: readonly string[]): What {
  if (word === 'rpz') {
    if (text !== undefined) throw new UsageError('rpz takes no name; see --origin and --source')
    return { is: 'rpz' }
  }
  if (word !== 'zone') throw new UsageError('say what is exported: zone or rpz')
  if (text === undefined || rest.length > 0) throw new UsageError('give the name of one zone')
  return { is: 'zone', name: `${text.toLowerCase().replace(/\.$/, '')}.` }
}

function serialOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,10}$/.test(text) || Number(text) > serialMax) {
    throw new UsageError(`--serial is a number up to ${serialMax}`)
  }
  return Number(text)
}

interface ZoneAsked {
  readonly name: string
  readonly serial: number | undefined
  readonly written: Bundle | undefined
}

function zoneOf(bundle: Bundle, { name, serial, written }: ZoneAsked): ZoneExport {
  if (isAbsentZone(bundle, name)) {
    throw new CommandFault(
      Exit.ErrorsFound,
      `the records of ${name} are not here: none have come from its primary servers, or they ` +
        'have expired; export it when they are, or ask a primary server',
    )
  }
  const exported = exportZone(bundle, name, serial, written)
  if (exported !== undefined) return exported
  const names = Array.from(bundle.zoneNode, (_, zone) => nameOfZone(bundle, zone))
  throw new CommandFault(Exit.ErrorsFound, `there is no zone ${name}${didYouMean(name, names)}`)
}

/** @returns undefined: there are none in zones of the bundle */
function writtenFor(bundle: Bundle, path: string | undefined): Bundle | undefined {
  if (path === undefined) return undefined
  const records = needed(readWrittenRecords(path), Exit.Usage)
  const { handed } = encodeWritten(writtenSnapshot(1, records).records, bundle)
  return handed === null ? undefined : adoptBundle(handed.bytes, handed.digest)
}

function rpzOf(
  responseRules: BundleModel['responseRules'],
  serial: number,
  { origin: text = 'rpz.', source }: ValuesOf<typeof options>,
): ZoneExport {
  const origin = parseName(text)
  if (!origin.ok) throw new UsageError(`--origin is no name: ${text}`)
  const rules = responseRules.filter((rule) => source === undefined || rule.source === source)
  if (rules.length > 0 || source === undefined) {
    const name = formatName(origin.value)
    return { origin: origin.value, ...exportRpz(rules, name, serial) }
  }
  const hint = didYouMean(source, new Set(responseRules.map((rule) => rule.source)))
  const what = `there is no response rule of the source ${source}${hint}`
  throw new CommandFault(Exit.ErrorsFound, what)
}

interface Source {
  readonly bundle: Bundle
  /** undefined: a bundle was read. */
  readonly rules: BundleModel['responseRules']
}

/** Prints the diagnostics of a configuration with errors. */
async function compiled(path: string, checkPolicy: HealthCheckPolicy, io: Io): Promise<Source> {
  const files = needed(await readConfiguration(path), Exit.Usage)
  const result = createCompiler({ checkPolicy }).compile(files, { commit: '' })
  if (!result.ok) {
    io.err(printText(result))
    throw new CommandFault(Exit.ErrorsFound, summary(result))
  }
  const bundle = needed(loadBundle(result.bundle.bytes), Exit.Internal)
  return { bundle, rules: result.model.responseRules }
}
