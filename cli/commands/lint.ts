// `gslbd lint`: shows what nodes have counted about a configuration: unused objects, and TTLs that
// do not fit.
import { createCompiler } from '#compiler/compile.ts'
import { formats } from '#diagnostics/print/formats.ts'
import { summary } from '#diagnostics/print/text.ts'
import { systemClock } from '#lib/clock.ts'
import { readConfiguration } from '#gitops/checkout/config-directory.ts'
import { checkPolicyOf, checkPolicyOptions, checkPolicyUsage } from '#settings/check-policy.ts'
import { observeUse } from '#cli/lint/observe-use.ts'
import { readUseReport, remarksOn } from '#cli/lint/use-report.ts'
import type { UseReport } from '#cli/lint/use-report.ts'
import {
  atMostOne,
  commandLine,
  Exit,
  needed,
  UsageError,
  wholeNumber,
} from '#system/process/command.ts'
import type { Command, Io, ValuesOf } from '#system/process/command.ts'
import { nodeApiFor } from '#cli/watch/node-api.ts'

const usage = `Usage: gslbd lint --unused [PATH] [options]

Asks a node what no query has used for 30 days: names, members that no answer named, response rules
and redirects; and which TTLs do not fit how often answers change. With PATH, a directory with the
configuration, it tells them at their places there, beside what "gslbd check" tells.

Only what all nodes have counted for the whole time is called unused; what is not known is said.
GSLB_API_KEY is the key of the node.

  --unused            what to look for; there is nothing else yet
  --url URL           the API of the node (default GSLB_API_URL, or http://127.0.0.1:8080)
  --days N            in place of 30, up to 365
  --json              the same as --format json; without PATH what the node has said
  --format F          with PATH: text (default), json, sarif (2.1.0) or github (annotations)
${checkPolicyUsage}

Exit codes: 0 told, whatever is unused; 1 errors in PATH, or the node cannot be asked; 2 wrong call
or unreadable path.`

const options = {
  unused: { type: 'boolean', default: false },
  url: { type: 'string' },
  days: { type: 'string', default: '30' },
  json: { type: 'boolean', default: false },
  format: { type: 'string' },
  ...checkPolicyOptions,
} as const

export const lint: Command = {
  name: 'lint',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, options)
    const path = atMostOne(positionals, 'give one directory')
    if (!values.unused) throw new UsageError('say what to look for: --unused')
    const days = wholeNumber('--days', values.days, 1, 365)
    const format = values.format ?? (values.json ? 'json' : 'text')
    if (!Object.hasOwn(formats, format)) throw new UsageError(`there is no format "${format}"`)
    if (path === undefined && format !== 'text' && format !== 'json') {
      throw new UsageError(`--format ${format} shows places: name the directory, PATH`)
    }
    const answer = needed(await nodeApiFor(values.url, io).json(`/api/v1/unused?days=${days}`))
    const report = needed(readUseReport(answer))
    if (path !== undefined) return await atPlaces(path, format, report, values, io)
    io.out(format === 'json' ? `${JSON.stringify(answer, null, 2)}\n` : asLines(report))
    return Exit.Ok
  },
}

async function atPlaces(
  path: string,
  format: string,
  report: UseReport,
  values: ValuesOf<typeof options>,
  io: Io,
): Promise<Exit> {
  const files = needed(await readConfiguration(path), Exit.Usage)
  const { observe, missing } = observeUse(report)
  const compiler = createCompiler({ checkPolicy: checkPolicyOf(values), observe })
  const result = compiler.compile(files, { commit: '', nowMs: systemClock.nowMs() })
  io.out(formats[format]!(result))
  const isText = format === 'text'
  // Machine-readable output has no place for the text.
  const tell = isText ? io.out : io.err
  for (const line of remarksOn(report)) tell(`${line}\n`)
  if (missing() > 0) tell(`${missing()} more that the node has are not in ${path}\n`)
  const found = summary(result)
  if (isText) io.out(found === '' ? 'nothing to say\n' : `\n${found}\n`)
  return result.ok ? Exit.Ok : Exit.ErrorsFound
}

/** Without a configuration objects are named as by the node. */
function asLines(report: UseReport): string {
  const lines: string[] = []
  const unused = report.unused.filter(({ note }) => note !== 'standby')
  for (const { kind, name, note, path, lastUsed } of unused) {
    const last = lastUsed === null ? '' : `, last on ${new Date(lastUsed * 1000).toISOString()}`
    lines.push(`unused ${kind} ${name}${note === '' ? '' : ` (${note})`} in ${path}${last}`)
  }
  for (const { name, ttl, advisedTtl, healthChanges, commits, path } of report.ttls) {
    const causes = `${healthChanges} changes of health, ${commits ?? 'no count'} of commits`
    lines.push(`TTL ${ttl} of ${name} in ${path}: ${advisedTtl} would fit (${causes})`)
  }
  const sum = `${unused.length} unused, ${report.used} used in ${report.days} days`
  return `${[...lines, ...remarksOn(report), sum].join('\n')}\n`
}
