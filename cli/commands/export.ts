// `gslbd export`: writes a zone of a configuration, or its response rules, as a zone file.
import { parseArgs } from 'node:util'
import type { BundleModel } from '#bundle/format/model.ts'
import { exportRpz } from '#cli/export/rpz-export.ts'
import { exportZone } from '#cli/export/zone-export.ts'
import type { ZoneExport } from '#cli/export/zone-export.ts'
import { checkPolicyOf, checkPolicyOptions, checkPolicyUsage } from '#cli/files/check-policy.ts'
import { readConfigDirectory } from '#cli/files/config-directory.ts'
import { Exit, UsageError } from '#cli/terminal/command.ts'
import type { Command } from '#cli/terminal/command.ts'
import { createCompiler } from '#compiler/compile.ts'
import { printText, summary } from '#compiler/print/text.ts'
import { formatName, parseName } from '#dns/name.ts'
import { zoneLines } from '#dns/zone-file/zone-writer.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { suggest } from '#lib/suggest.ts'

const usage = `Usage: gslbd export zone NAME [options]
       gslbd export rpz [options]

Prints the zone NAME of a configuration as a zone file (RFC 1035): SOA, name servers, all static
records, and of balanced names the addresses of every enabled member. With rpz: the response rules,
as a response policy zone for resolvers.

  --config PATH       the configuration directory (default: .)
  --serial N          serial of the SOA record (default: 1); nodes count the commits
  --origin NAME       name of the policy zone (default: rpz.)
  --source NAME       only response rules of this source
${checkPolicyUsage}

Exit codes: 0 printed; 1 errors in the configuration, or no such zone; 2 wrong call or unreadable
path.`

const serialMax = 4_294_967_295

export const exportCommand: Command = {
  name: 'export',
  summary: 'print a zone, or the response rules, as a zone file',
  usage,
  run: (args, io) => {
    const { positionals, values } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        config: { type: 'string', default: '.' },
        serial: { type: 'string', default: '1' },
        origin: { type: 'string' },
        source: { type: 'string' },
        ...checkPolicyOptions,
      },
    })
    const [word, text, ...rest] = positionals
    const what = whatOf(word, text, rest)
    const isZone = what.is === 'zone'
    if (isZone && (values.origin ?? values.source) !== undefined) {
      throw new UsageError('--origin and --source are for rpz')
    }
    const serial = Number(values.serial)
    if (!/^\d{1,10}$/.test(values.serial) || serial > serialMax) {
      throw new UsageError(`--serial is a number up to ${serialMax}`)
    }
    const checkPolicy = checkPolicyOf(values)
    const fail = (exit: Exit, sentence: string) => {
      io.err(`gslbd export: ${sentence}\n`)
      return Promise.resolve(exit)
    }
    const files = readConfigDirectory(values.config)
    if (!files.ok) return fail(Exit.Usage, files.error)
    const result = createCompiler({ checkPolicy }).compile(files.value, { commit: '' })
    if (!result.ok) {
      io.err(printText(result))
      return fail(Exit.ErrorsFound, summary(result))
    }
    const exported = isZone
      ? zoneOf(result.model, what.name, serial)
      : rpzOf(result.model, serial, values)
    if (!exported.ok) return fail(Exit.ErrorsFound, exported.error)
    for (const remark of exported.value.remarks) io.out(`; ${remark}\n`)
    const { origin, records } = exported.value
    for (const line of zoneLines(records, { origin, names: 'relative' })) io.out(line)
    return Promise.resolve(Exit.Ok)
  },
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

function zoneOf(model: BundleModel, name: string, serial: number): Result<ZoneExport, string> {
  const exported = exportZone(model, name, serial)
  if (exported !== undefined) return ok(exported)
  const near = suggest(
    name,
    model.zones.map((zone) => zone.name),
  )
  const hint = near === undefined ? '' : `; did you mean "${near}"?`
  return err(`there is no zone ${name}${hint}`)
}

interface RpzOptions {
  readonly origin?: string | undefined
  readonly source?: string | undefined
}

function rpzOf(
  { responseRules }: BundleModel,
  serial: number,
  { origin: text = 'rpz.', source }: RpzOptions,
): Result<ZoneExport, string> {
  const origin = parseName(text)
  if (!origin.ok) throw new UsageError(`--origin is no name: ${text}`)
  const rules = responseRules.filter((rule) => source === undefined || rule.source === source)
  if (rules.length > 0 || source === undefined) {
    const name = formatName(origin.value)
    return ok({ origin: origin.value, ...exportRpz(rules, name, serial) })
  }
  const near = suggest(source, [...new Set(responseRules.map((rule) => rule.source))])
  const hint = near === undefined ? '' : `; did you mean "${near}"?`
  return err(`there is no response rule of the source ${source}${hint}`)
}
