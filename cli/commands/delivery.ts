// `gslbd delivery`: shows how far a change has come in the fleet; pauses, resumes, promotes or
// aborts it.
import { shownActions } from '#ports/deliveries.ts'
import type { Delivery } from '#ports/deliveries.ts'
import { nodeApiFor } from '#cli/watch/node-api.ts'
import { commandLine, Exit, needed, UsageError } from '#system/process/command.ts'
import type { Command } from '#system/process/command.ts'

const usage = `Usage: gslbd delivery [show|pause|resume|promote|abort] [CHANNEL] [--url URL]
                      [--json]

Asks a control node how far the newest change has come in the fleet, or changes that: pause holds
it, resume goes on with it (or begins anew with one that was stopped), promote gives it to all
nodes now, abort takes it back. CHANNEL is main. GSLB_API_KEY is the key.

  --url URL  the API of a control node (default GSLB_API_URL, or http://127.0.0.1:8080)
  --json     prints what the API gave

Exit codes: 0 done; 1 it was stopped, is not possible now, or the node cannot be asked;
2 wrong call.`

const options = { url: { type: 'string' }, json: { type: 'boolean', default: false } } as const

export const delivery: Command = {
  name: 'delivery',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, options)
    const [verb = 'show', channel = 'main', ...rest] = positionals
    const isAction = (shownActions as readonly string[]).includes(verb)
    if ((verb !== 'show' && !isAction) || rest.length > 0) {
      throw new UsageError(`write one of: show, ${shownActions.join(', ')}`)
    }
    const api = nodeApiFor(values.url, io)
    const asked = needed(
      isAction
        ? await api.post(`/api/v1/deliveries/${encodeURIComponent(channel)}/${verb}`)
        : await api.json('/api/v1/deliveries'),
    )
    const found = ([asked].flat() as readonly Delivery[]).filter((one) => one.channel === channel)
    if (values.json) io.out(`${JSON.stringify(asked)}\n`)
    else io.out(found.length === 0 ? none : found.map(textOf).join(''))
    return found.some(({ phase }) => phase === 'held' || phase === 'returned')
      ? Exit.ErrorsFound
      : Exit.Ok
  },
}

const none = 'Nothing is delivered in waves: there is no Delivery yet.\n'

function textOf({
  promised,
  channel,
  phase,
  good,
  target,
  waves,
  verdict,
  ...rest
}: Delivery): string {
  const { waitsFor, fault } = rest
  const place = (name: string, { commit, seq }: NonNullable<Delivery['target']>): string =>
    `  ${name.padEnd(8)}${commit.slice(0, 12)}  seq ${seq}\n`
  const rows = waves.map((wave, i) => {
    const who = wave.nodes ?? `${wave.percent ?? 0} %`
    const counts = `${wave.adopted} have it, ${wave.waiting} wait, ${wave.refused} refuse`
    const seen = wave.hasBegun ? `${counts}, ${wave.silent} silent` : 'not yet'
    const row = `  wave ${i + 1}  ${who.padEnd(20)} hold ${wave.holdSeconds} s  ${seen}\n`
    return row + shadowText(wave)
  })
  const why =
    verdict === null
      ? ''
      : `  stopped in wave ${verdict.wave}: ${verdict.gate} is ${verdict.value}, ` +
        `the limit is ${verdict.limit}\n`
  return [
    `channel ${channel}: ${phase}${waitsFor === '' ? '' : `, waits for ${waitsFor}`}\n`,
    place('good', good),
    target === null ? '' : place('target', target),
    promised === '' ? '' : `  plan    ${promised}\n`,
    ...rows,
    why,
    fault === '' ? '' : `  it stands still: ${fault}\n`,
  ].join('')
}

function shadowText({ isShadow, shadow }: Delivery['waves'][number]): string {
  if (shadow === null) return ''
  const { compared, changed } = shadow
  const what = `${changed} % of ${compared} queries have another answer`
  return `          shadow${isShadow ? ', not answered from yet' : ''}: ${what}\n`
}
