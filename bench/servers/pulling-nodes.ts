// Runs pulling nodes of the role dns from one source, each as a process that is queried over UDP.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { waitUntil } from '#test/support/wait-until.ts'
import { nodeFlags, startProgram } from './program.ts'
import type { Program } from './program.ts'
import { QueryClient } from '../load/query-client.ts'

const main = fileURLToPath(import.meta.resolve('#cli/main.ts'))
export const bundleToken = 'cd'.repeat(16)

export interface PullingNode {
  readonly program: Program
  readonly client: QueryClient
  readonly stop: () => Promise<void>
}

interface PullingOptions {
  readonly url: string
  /** Public key of the control node. */
  readonly publicPem: string
  readonly poll?: string
}

/**
 * @param home an empty directory.
 * @returns when it listens, possibly without a bundle
 */
export async function startPullingNode(
  home: string,
  { url, publicPem, poll = '1s' }: PullingOptions,
): Promise<PullingNode> {
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'bundle_keys'), publicPem)
  const settings = {
    dataDir: './data',
    roles: ['dns'],
    dns: { listenAddr: '127.0.0.1', port: 0, threads: 1 },
    bundle: { urls: [url], keys: './bundle_keys', poll },
  }
  const path = join(home, 'gslbd.yaml')
  writeFileSync(path, JSON.stringify(settings))
  const args = [...nodeFlags, main, 'serve', '--settings', path]
  const program = startProgram(process.execPath, args, { env: { GSLB_BUNDLE_TOKEN: bundleToken } })
  try {
    const { port } = await runningPorts(program)
    const client = new QueryClient(port)
    await client.open()
    const stop = async (): Promise<void> => {
      client.close()
      await program.stop()
    }
    return { program, client, stop }
  } catch (error) {
    await program.stop()
    throw new Error(`${program.output()}${program.errors()}`, { cause: error })
  }
}

/** Ports in the log of a running daemon. */
export async function runningPorts(
  program: Program,
  timeoutMs = 60_000,
): Promise<{ port: number; apiPort: number }> {
  const running = /^\{.*"gslbd is running".*\}$/m
  const line = await waitUntil('the node', () => running.exec(program.output())?.[0], {
    timeoutMs,
  })
  return JSON.parse(line) as { port: number; apiPort: number }
}
