// `gslbd acme`: says what certificates an ACME server gave, and how the next ones do.
import { plain } from '#cli/terminal/paint.ts'
import { nodeApiFor } from '#cli/watch/node-api.ts'
import { fieldsOf, rowsOf } from '#lib/text/json.ts'
import type { Fields } from '#lib/text/json.ts'
import { commandLine, Exit, needed, UsageError } from '#system/process/command.ts'
import type { Command } from '#system/process/command.ts'

const usage = `Usage: gslbd acme status [--url URL] [--json]

Asks a control node which certificates the ACME server of its settings gave, until when they serve,
when they are renewed, and why the last try failed. GSLB_API_KEY is the key, with the permission
settings:read.

  --url URL  the API of a control node (default GSLB_API_URL, or http://127.0.0.1:8080)
  --json     prints what the API gave

Exit codes: 0 all are there, and nothing failed, or none is asked for; 1 one is not there, its last
try failed, or the node cannot be asked; 2 wrong call.`

const options = { url: { type: 'string' }, json: { type: 'boolean', default: false } } as const

export const acme: Command = {
  name: 'acme',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, options)
    if (positionals.length !== 1 || positionals[0] !== 'status')
      throw new UsageError('write status')
    const listed = needed(await nodeApiFor(values.url, io).json('/api/v1/acme/certificates'))
    const all = rowsOf(listed)
    if (values.json) io.out(`${JSON.stringify(listed)}\n`)
    else io.out(all.length === 0 ? none : all.map(textOf).join(''))
    return all.every(isWell) ? Exit.Ok : Exit.ErrorsFound
  },
}

const none = `No certificate is asked for: acme.names is empty. To have one, write this
into the settings of all control nodes, with your names, and start them again:

  acme: { names: [ns1.example.com], agreeToTerms: true }

docs/operations/certificates.md says what else it needs, and who uses it.
`

const isWell = ({ certificate, failure, fault }: Fields): boolean =>
  certificate !== null && failure === null && fault === null

function textOf({ names, directory, certificate, failure, isOrdering, ...rest }: Fields): string {
  const wanted = (Array.isArray(names) ? names : []).map(String).join(', ')
  const { clockOffsetSeconds: offset, fault, entry } = rest
  const named = typeof entry === 'string' ? `${entry}: ${wanted}` : wanted
  const lines = [
    `from ${String(directory)}`,
    ...(certificate === null ? ['there is none yet'] : servesLines(fieldsOf(certificate))),
    ...(isOrdering === true ? ['a node is getting another one now'] : []),
    ...(failure === null ? [] : failureLines(fieldsOf(failure))),
    ...(typeof offset === 'number' && Math.abs(offset) >= clockOffsetSeconds
      ? [`the clock of this node is ${aheadBy(offset)} that of the server`]
      : []),
    ...(typeof fault === 'string' ? [fault] : []),
  ]
  return `${plain(named)}\n${lines.map((line) => `  ${plain(line)}\n`).join('')}`
}

const aheadBy = (seconds: number): string =>
  `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'}`

/** Below this it is the time that an answer takes. */
const clockOffsetSeconds = 60

const timeOf = (seconds: unknown): string =>
  typeof seconds === 'number' ? new Date(seconds * 1_000).toISOString() : '?'

function servesLines({ notAfter, renewAt, suggested }: Fields): readonly string[] {
  const serves = `serves until ${timeOf(notAfter)}, is renewed from ${timeOf(renewAt)} on`
  const { from, to, why } = fieldsOf(suggested)
  if (from === undefined) return [serves]
  const page = typeof why === 'string' ? `: ${why}` : ''
  return [serves, `the server wants that from ${timeOf(from)} to ${timeOf(to)}${page}`]
}

function failureLines({ code, message, count, at, next }: Fields): readonly string[] {
  const times = count === 1 ? '' : `, ${String(count)} times in a row`
  return [
    `the last try failed at ${timeOf(at)} (${String(code)}${times}): ${String(message)}`,
    `tried again at ${timeOf(next)}`,
  ]
}
