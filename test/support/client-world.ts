// An API on a port of this machine, over a real repository, for clients of their own processes.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { createClient } from '#clients/typescript/client.ts'
import type { Client, ClientOptions } from '#clients/typescript/client.ts'
import { SourceBuckets } from '#access/admit/source-buckets.ts'
import { systemClock } from '#lib/clock.ts'
import { err } from '#lib/result.ts'
import { keyOf, startConfigWorld } from './config-world.ts'
import type { ConfigWorld } from './config-world.ts'

export interface ClientWorld {
  readonly world: ConfigWorld
  readonly baseUrl: string
  readonly clientOf: (options?: Partial<ClientOptions>) => Client
  /** Whether simulations are answered with a 503. */
  isBusy: boolean
  readonly close: () => Promise<void>
}

/** Each test takes away what it has made. */
const settings = `apiVersion: gslb/v1
kind: Settings
metadata: { name: settings }
spec:
  guardrails: { removedNames: 100, changedNames: 100, removedMembers: 100, lostAnswers: 100 }
`

/** Answers one simulation a second, with a 404 unless it is busy. */
export async function startClientWorld(): Promise<ClientWorld> {
  const world = await startConfigWorld({
    settings,
    ports: {
      simulationSources: new SourceBuckets({ perSecond: 1, burst: 1, sourcesMax: 10 }, systemClock),
      simulator: {
        simulate: async () => err({ code: made.isBusy ? 'busy' : 'not-found' }),
        explain: () => undefined,
        clientOf: () => err('none'),
      },
    },
  })
  const baseUrl = await world.app.listen({ port: 0, host: '127.0.0.1' })
  const made: ClientWorld = {
    ...{ world, baseUrl, isBusy: false },
    clientOf: (options = {}) => createClient({ baseUrl, apiKey: keyOf('acme'), ...options }),
    close: () => world.close(),
  }
  return made
}

/** The code blocks of a page in that language, in order. */
export function codeBlocks(page: string, language: string): string[] {
  const block = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm')
  return [...page.matchAll(block)].map(([, code = '']) => code)
}

/** Runs an example, which finds the API by its environment. */
export async function runExample(
  command: string,
  args: readonly string[],
  { baseUrl }: Pick<ClientWorld, 'baseUrl'>,
): Promise<string> {
  const env = { ...process.env, GSLB_URL: baseUrl, GSLB_API_KEY: keyOf('acme') }
  const { stdout } = await promisify(execFile)(command, args, { env, timeout: 60_000 })
  return stdout
}
