// Starts the demo web servers that `npm start` probes, each in a process of its own, so that a
// reader can stop one.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

interface DemoBackend {
  readonly address: string
  readonly port: number
  readonly pid: number
  /** Commands that stop this one and bring it back. */
  readonly hint: string
}

export interface DemoBackends {
  /** In the order of the given addresses. */
  readonly backends: readonly DemoBackend[]
  /** Ends those that still run. */
  readonly stop: () => Promise<void>
}

const startMsMax = 10_000

/**
 * Starts one server for each address; each ends with this process, even when that is killed.
 * Errors: a sentence with address and cause; started servers are ended then.
 */
export async function startDemoBackends(
  addresses: readonly string[],
  port: number,
): Promise<Result<DemoBackends, string>> {
  const children = addresses.map((address) => startChild(address, port))
  const stop = async (): Promise<void> => {
    await Promise.all(children.map(endChild))
  }
  const failures = await Promise.all(children.map(untilListening))
  const index = failures.findIndex((failure) => failure !== undefined)
  if (index >= 0) {
    await stop()
    return err(`the demo backend ${addresses[index]!}:${port} did not start: ${failures[index]!}`)
  }
  const backends = children.map(({ pid = 0 }, i): DemoBackend => {
    const address = addresses[i]!
    const hint = `curl -X POST http://${address}:${port}/down (or /up; or kill ${pid})`
    return { address, port, pid, hint }
  })
  return ok({ backends, stop })
}

function startChild(address: string, port: number): ChildProcess {
  const script = fileURLToPath(new URL('./demo-backend.ts', import.meta.url))
  // The kernel closes the pipe to stdin however this process ends, which ends the server.
  return spawn(process.execPath, [script, address, String(port)], {
    stdio: ['pipe', 'pipe', 'ignore'],
    // The terminal's signals reach only this process, which ends the servers itself.
    detached: true,
  })
}

/** @returns what went wrong; undefined: the server listens */
async function untilListening(child: ChildProcess): Promise<string | undefined> {
  const patience = AbortSignal.timeout(startMsMax)
  const words = once(child.stdout!, 'data', { signal: patience })
  const failed = once(child, 'error', { signal: patience })
  const ended = once(child, 'exit', { signal: patience })
  try {
    const [first] = (await Promise.race([
      words,
      failed.then(([error]) => [(error as Error).message]),
      ended.then(() => ['it ended']),
    ])) as [unknown]
    const text = String(first).trim()
    return text === 'listening' ? undefined : text
  } catch {
    return `it did not listen within ${startMsMax / 1_000} s`
  } finally {
    for (const loser of [words, failed, ended]) loser.catch(() => undefined)
  }
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const exited = once(child, 'exit')
  // SIGKILL also ends a server that a reader has stopped with SIGSTOP.
  child.kill('SIGKILL')
  await exited
}
