// `gslbd sync`: makes a node look at its branch now, waits, and prints its verdict.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { CommandFault, Exit, needed, wholeNumber } from '#system/process/command.ts'
import type { Command } from '#system/process/command.ts'
import { listAt, numberAt, textAt } from '#cli/watch/json-fields.ts'
import { nodeApiFor } from '#cli/watch/node-api.ts'
import type { NodeApi } from '#cli/watch/node-api.ts'

const usage = `Usage: gslbd sync [--url URL] [--wait SECONDS]

Has a node look at its branch at once, instead of with its next poll, waits until it has looked, and
prints the head, the accepted commit, and why it is held if it is. GSLB_API_KEY is the key; it is
that of a system administrator.

  --url URL       the API of the node (default GSLB_API_URL, or http://127.0.0.1:8080)
  --wait SECONDS  how long to wait for the look (default 60)

Exit codes: 0 the head is accepted; 1 it is held, or the node has not looked; 2 wrong call.`

const options = {
  url: { type: 'string' },
  wait: { type: 'string', default: '60' },
} as const

const waitSecondsMax = 3_600
const askEveryMs = 200
const statusPath = '/api/v1/gitops/status'

export const sync: Command = {
  name: 'sync',
  usage,
  async run(args, io) {
    const { values } = parseArgs({ args: [...args], options })
    const api = nodeApiFor(values.url, io)
    const waitSeconds = wholeNumber('--wait', values.wait, 1, waitSecondsMax)
    const status = await statusAfterLook(api, waitSeconds)
    io.out(`${verdictLines(status).join('\n')}\n`)
    return textAt(status, 'sync') === 'synced' ? Exit.Ok : Exit.ErrorsFound
  },
}

async function statusAfterLook(api: NodeApi, waitSeconds: number): Promise<unknown> {
  const askedAtMs = numberAt(needed(await api.post('/api/v1/sync')), 'askedAtMs')
  if (askedAtMs === null) throw unsaid(`${api.url} does not say when it was asked: is it gslbd?`)
  for (let waitedMs = 0; waitedMs < waitSeconds * 1_000; waitedMs += askEveryMs) {
    const status = needed(await api.json(statusPath))
    if (hasLooked(status, askedAtMs)) return status
    await sleep(askEveryMs)
  }
  throw unsaid(`the node has not looked within ${waitSeconds} s; see gslbd status, or its log`)
}

const unsaid = (why: string): CommandFault => new CommandFault(Exit.ErrorsFound, why)

/** An earlier look may not have seen what was pushed. */
function hasLooked(status: unknown, askedAtMs: number): boolean {
  const isUnderWay = ['pending', 'starting'].includes(textAt(status, 'sync'))
  return !isUnderWay && (numberAt(status, 'lookedFromMs') ?? 0) >= askedAtMs
}

function verdictLines(status: unknown): readonly string[] {
  const [verdict, code] = [textAt(status, 'sync'), textAt(status, 'reason', 'code')]
  const errors = listAt(status, 'diagnostics').filter((one) => textAt(one, 'severity') === 'error')
  return [
    `head      ${textAt(status, 'head') || 'none'}`,
    `accepted  ${textAt(status, 'accepted') || 'none'}`,
    `verdict   ${verdict}`,
    ...(code === '' ? [] : [`${code}: ${textAt(status, 'reason', 'message')}`]),
    ...(textAt(status, 'note') === '' ? [] : [textAt(status, 'note')]),
    ...errors.map((one) => {
      const place = `${textAt(one, 'file')}:${numberAt(one, 'line')}:${numberAt(one, 'column')}`
      return `${place}: ${textAt(one, 'code')}: ${textAt(one, 'message')}`
    }),
  ]
}
