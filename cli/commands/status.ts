// `gslbd status`: shows a node, its Git, its bundle and the nodes beside it, in one screen.
import { parseArgs } from 'node:util'
import { systemClock } from '#lib/clock.ts'
import { Exit } from '#system/process/command.ts'
import type { Command } from '#system/process/command.ts'
import { painterOf } from '#cli/terminal/paint.ts'
import { nodeApiFor } from '#cli/watch/node-api.ts'
import { repeat, repetitionOf, screenBefore } from '#cli/watch/repeat.ts'
import type { Look } from '#cli/watch/repeat.ts'
import { isWell, statusReport } from '#cli/watch/status-report.ts'
import { statusScreen } from '#cli/watch/status-screen.ts'

const usage = `Usage: gslbd status [--url URL] [--watch] [--json]

Shows what a node says of itself over its API: health and its reasons, the commits, the bundle,
the nodes of the cluster, sources of discovery, and zones that come from other servers.
GSLB_API_KEY is the key; without it only a node without keys shows all.
Colours are for terminals, and off where NO_COLOR is set.

  --url URL           the API of the node (default GSLB_API_URL, or http://127.0.0.1:8080)
  --watch             shows it again and again
  --interval SECONDS  between two looks with --watch (default 2)
  --times N           ends after N looks with --watch
  --json              prints what the API gave, one line a look

Exit codes: 0 the node is well; 1 it is not, or something could not be read; 2 wrong call.`

const options = {
  url: { type: 'string' },
  watch: { type: 'boolean', default: false },
  interval: { type: 'string', default: '2' },
  times: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const

const none = (): string => ''

export const status: Command = {
  name: 'status',
  usage,
  async run(args, io) {
    const { values } = parseArgs({ args: [...args], options })
    const api = nodeApiFor(values.url, io)
    const repetition = repetitionOf(values.interval, values.watch ? values.times : '1')
    const paint = painterOf(io)
    const look = async (): Promise<Look> => {
      const report = await statusReport(api)
      if (!report.ok) {
        const line = JSON.stringify({ url: api.url, error: report.error })
        const text = values.json ? line : paint('bad', `gslbd status: ${report.error}`)
        return { exit: Exit.ErrorsFound, text: `${text}\n` }
      }
      const text = values.json
        ? `${JSON.stringify(report.value)}\n`
        : statusScreen(report.value, systemClock.nowMs(), paint)
      return { exit: isWell(report.value) ? Exit.Ok : Exit.ErrorsFound, text }
    }
    return repeat(repetition, look, io.out, values.json || !values.watch ? none : screenBefore(io))
  },
}
