// `gslbd export`: writes a zone of a configuration as a zone file.
import { parseArgs } from 'node:util'
import { exportZone } from '#cli/export/zone-export.ts'
import { checkPolicyOf, checkPolicyOptions, checkPolicyUsage } from '#cli/files/check-policy.ts'
import { readConfigDirectory } from '#cli/files/config-directory.ts'
import { Exit, UsageError } from '#cli/terminal/command.ts'
import type { Command } from '#cli/terminal/command.ts'
import { createCompiler } from '#compiler/compile.ts'
import { printText, summary } from '#compiler/print/text.ts'
import { zoneLines } from '#dns/zone-file/zone-writer.ts'
import { suggest } from '#lib/suggest.ts'

const usage = `Usage: gslbd export zone NAME [options]

Prints the zone NAME of a configuration as a zone file (RFC 1035): SOA, name servers, all static
records, and of balanced names the addresses of every enabled member.

  --config PATH       the configuration directory (default: .)
  --serial N          serial of the SOA record (default: 1); nodes count the commits
${checkPolicyUsage}

Exit codes: 0 printed; 1 errors in the configuration, or no such zone; 2 wrong call or unreadable
path.`

const serialMax = 4_294_967_295

export const exportCommand: Command = {
  name: 'export',
  summary: 'print a zone of a configuration as a zone file',
  usage,
  run: (args, io) => {
    const { positionals, values } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        config: { type: 'string', default: '.' },
        serial: { type: 'string', default: '1' },
        ...checkPolicyOptions,
      },
    })
    const [word, text, ...rest] = positionals
    if (word !== 'zone') throw new UsageError('say what is exported: zone')
    if (text === undefined || rest.length > 0) throw new UsageError('give the name of one zone')
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
    const name = `${text.toLowerCase().replace(/\.$/, '')}.`
    const exported = exportZone(result.model, name, serial)
    if (exported === undefined) {
      const near = suggest(
        name,
        result.model.zones.map((zone) => zone.name),
      )
      const hint = near === undefined ? '' : `; did you mean "${near}"?`
      return fail(Exit.ErrorsFound, `there is no zone ${name}${hint}`)
    }
    for (const remark of exported.remarks) io.out(`; ${remark}\n`)
    const { origin, records } = exported
    for (const line of zoneLines(records, { origin, names: 'relative' })) io.out(line)
    return Promise.resolve(Exit.Ok)
  },
}
