// `gslbd top`: shows what a node answers, again and again.
import { parseArgs } from 'node:util'
import { setTimeout as wait } from 'node:timers/promises'
import { Exit, needed, variable } from '#system/process/command.ts'
import type { Command } from '#system/process/command.ts'
import { painterOf } from '#cli/terminal/paint.ts'
import { readMetrics } from '#cli/watch/metrics-text.ts'
import { nodeApiFor } from '#cli/watch/node-api.ts'
import type { NodeApi } from '#cli/watch/node-api.ts'
import { repeat, repetitionOf, screenBefore } from '#cli/watch/repeat.ts'
import type { Look } from '#cli/watch/repeat.ts'
import { topScreen } from '#cli/watch/top-screen.ts'
import type { Reading } from '#cli/watch/top-screen.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

const usage = `Usage: gslbd top [--url URL] [--interval SECONDS] [--times N]

Shows again and again what a node does: queries a second, response codes, types, response rules,
load of its threads, and members that are down. It is the difference of two readings of /metrics.
GSLB_METRICS_TOKEN, as the node has it, is enough; without it GSLB_API_KEY is the key, which
needs the permission cluster:status.

  --url URL           the API of the node (default GSLB_API_URL, or http://127.0.0.1:8080)
  --interval SECONDS  between two readings (default 2)
  --times N           ends after N screens

Exit codes: 0 it was interrupted, or has shown N screens; 1 the node cannot be read; 2 wrong call.`

const options = {
  url: { type: 'string' },
  interval: { type: 'string', default: '2' },
  times: { type: 'string' },
} as const

export const top: Command = {
  name: 'top',
  usage,
  async run(args, io) {
    const { values } = parseArgs({ args: [...args], options })
    const hasToken = variable(io.env, 'GSLB_METRICS_TOKEN') !== undefined
    const api = nodeApiFor(values.url, io, {
      variable: hasToken ? 'GSLB_METRICS_TOKEN' : 'GSLB_API_KEY',
      missing: noCredential,
    })
    const repetition = repetitionOf(values.interval, values.times)
    const paint = painterOf(io)
    let before = needed(await readingOf(api))
    await wait(repetition.intervalMs)
    const look = async (): Promise<Look> => {
      const now = await readingOf(api)
      if (!now.ok) {
        return { exit: Exit.ErrorsFound, text: `${paint('bad', `gslbd top: ${now.error}`)}\n` }
      }
      const text = topScreen(api.url, before, now.value, paint)
      before = now.value
      return { exit: Exit.Ok, text }
    }
    return repeat(repetition, look, io.out, screenBefore(io))
  },
}

const noCredential =
  'set GSLB_METRICS_TOKEN as that node has it, or unset it and set GSLB_API_KEY to a key with ' +
  'the permission cluster:status'

async function readingOf(api: NodeApi): Promise<Result<Reading, string>> {
  const text = await api.text('/metrics')
  if (!text.ok) return err(text.error.message)
  return ok({ metrics: readMetrics(text.value), atMs: performance.now() })
}
