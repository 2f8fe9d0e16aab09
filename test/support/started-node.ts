// A node for one test: started, and stopped when the test ends.
import { onTestFinished } from 'vitest'
import type { DnsNode } from '#server/node/node.ts'
import { buildNode } from './node-under-test.ts'
import type { LogLine, NodeOptions } from './node-under-test.ts'

export interface StartedNode {
  readonly node: DnsNode
  readonly port: number
  readonly log: readonly LogLine[]
  /** For tests that stop it earlier. */
  readonly stop: () => Promise<void>
}

/** Call it inside a test: the node stops when the test ends. */
export async function startedNode(options: NodeOptions): Promise<StartedNode> {
  const { node, log } = buildNode(options)
  const started = await node.start()
  if (!started.ok) throw new Error(started.error)
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => (stopped ??= node.stop())
  onTestFinished(stop)
  return { node, log, stop, port: started.value.port }
}

export function errorsOf(log: readonly LogLine[]): string[] {
  return log.filter(({ level }) => level === 'error').map(({ message }) => message)
}
