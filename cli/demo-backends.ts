// The demo web servers that `npm start` probes: a process each, so that a reader can stop one.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

export interface DemoBackend {
  readonly address: string
  readonly port: number
  readonly pid: number
  /** What to type to stop this one, and to bring it back. */
  readonly hint: string
}

export interface DemoBackends {
  /** In the order of the addresses that were asked for. */
  readonly backends: readonly DemoBackend[]
  /** Ends those that still run. */
  readonly stop: () => Promise<void>
}

const startMsMax = 10_000

/**
 * Starts one server per address; each ends with this process, even when that is killed.
 *
 * Errors: a sentence that names the address and the cause; what was started is then ended.
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
  // The pipe to stdin is the life line: the kernel closes it whatever way this process ends.
  return spawn(process.execPath, [script, address, String(port)], {
    stdio: ['pipe', 'pipe', 'ignore'],
    // The terminal's signals reach only this process, which ends the children itself.
    detached: true,
  })
}

/** @returns what went wrong, or undefined once the child has said that it listens. */
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
  // SIGKILL also ends a child that a reader has stopped with SIGSTOP.
  child.kill('SIGKILL')
  await exited
}
