// Runs the real daemon with its API, and pushes a configuration of many pools to it.
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { callApi } from '#test/support/api-client.ts'
import { waitUntil } from '#test/support/wait-until.ts'
import { ConfigRepository } from './config-repository.ts'
import { poolFiles } from '../data/pool-files.ts'
import { nodeFlags, startProgram } from './program.ts'
import type { Program } from './program.ts'

export const systemKey = 'ab'.repeat(32)

const main = fileURLToPath(import.meta.resolve('#cli/main.ts'))
const patience = { timeoutMs: 120_000 } as const

export interface ApiDaemon {
  readonly program: Program
  readonly apiPort: number
}

interface ApiDaemonOptions {
  readonly pools: number
  /** The only core that it may use; absent: all. */
  readonly core?: number
}

/**
 * @param home an empty directory.
 * @returns when the API lists the pools
 */
export async function startApiDaemon(
  home: string,
  { pools, core }: ApiDaemonOptions,
): Promise<ApiDaemon> {
  const dataDir = join(home, 'data')
  mkdirSync(dataDir, { recursive: true })
  const settings = join(home, 'gslbd.yaml')
  const dns = { listenAddr: '127.0.0.1', port: 0, threads: 1 }
  writeFileSync(settings, JSON.stringify({ dataDir, dns, api: { enabled: true, port: 0 } }))
  const args = [...nodeFlags, main, 'serve', '--settings', settings]
  const env = { GSLB_API_KEY: systemKey }
  const program = startProgram(process.execPath, args, { core, env })
  try {
    await pushPools(home, dataDir, pools)
    const running = /^\{.*"gslbd is running".*\}$/m
    const line = await waitUntil('the daemon', () => running.exec(program.output())?.[0], patience)
    const { apiPort } = JSON.parse(line) as { apiPort: number }
    const hasAll = async () => (await listed({ apiPort }, '/pools')).length === pools
    await waitUntil('the pools', hasAll, patience)
    return { program, apiPort }
  } catch (error) {
    await program.stop()
    throw whatItSaid(program, error)
  }
}

/** Pushes pools, with their services, to a daemon that has just started. */
export async function pushPools(
  home: string,
  dataDir: string,
  pools: number,
  services = pools,
): Promise<void> {
  const repository = new ConfigRepository(home)
  const key = await repository.makeKey()
  const origin = join(dataDir, 'config.git')
  await waitUntil('the origin', () => existsSync(join(origin, 'HEAD')), patience)
  // Trusts its own key first: API writes are its own commits.
  const signers = join(dataDir, 'allowed_signers')
  await waitUntil('its own key', () => existsSync(signers), patience)
  appendFileSync(signers, key)
  await repository.open(origin)
  repository.write(poolFiles(pools, services))
  await repository.commitAndPush(['.'])
}

export interface Listed {
  readonly id: string
  readonly name: string
}

/** Reads a list route with the system key. */
export async function listed(daemon: { apiPort: number }, path: string): Promise<Listed[]> {
  const reply = await callApi<Listed[]>(daemon, 'GET', path, { bearer: systemKey })
  return Array.isArray(reply.body) ? reply.body : []
}

/** An error with the daemon's output. */
export function whatItSaid(program: Program, error: unknown): Error {
  const said = `${program.output()}${program.errors()}`
  return new Error(`${String(error)}\nthe daemon said:\n${said}`, { cause: error })
}
