// A node with a query log, and the queries of a test.
import { onTestFinished } from 'vitest'
import type { BundleModel } from '#bundle/format/model.ts'
import type { Log } from '#lib/log.ts'
import type { QueryLogPlace } from '#answer/query-log/messages.ts'
import { QueryLog } from '#answer/query-log/query-log.ts'
import type { QueryLogParts } from '#answer/query-log/query-log.ts'
import { bareModel, member, newSigningKey, pool, service, zone } from './bundle-models.ts'
import { publish } from './node-under-test.ts'
import { startedNode } from './started-node.ts'
import type { StartedNode } from './started-node.ts'

export const loggedCommit = '0123456789abcdef0123456789abcdef01234567'

/** Services that take turns, draw, chain, fall back, and have no members. */
export const loggedModel: BundleModel = {
  ...bareModel,
  commit: loggedCommit,
  zones: [zone('test.')],
  pools: [
    pool(1, [
      member('192.0.2.1', { name: 'fra1' }),
      member('192.0.2.2', { name: 'ams1' }),
      member('192.0.2.3'),
    ]),
    pool(2, [member('198.51.100.1', { name: 'off', enabled: false })]),
  ],
  services: [
    service(1, 'turns.test.', { name: 'turns' }),
    service(2, 'dice.test.', { name: 'dice', algorithm: 'weighted-round-robin' }),
    service(3, 'chain.test.', { name: 'chain', filterChain: ['failover'], answerCount: 2 }),
    service(4, 'spare.test.', {
      ...{ name: 'spare', algorithm: 'failover', pool: 1 },
      onAllDown: { pool: 0 },
    }),
    service(5, 'down.test.', { name: 'down', pool: 1 }),
  ],
}

const seal = newSigningKey()

interface LoggingNode extends StartedNode {
  readonly queryLog: QueryLog
  readonly lines: readonly string[]
  /** Stops the node, then the log: everything is written. */
  readonly finish: () => Promise<void>
}

/** Call it inside a test. Each query is logged by default. */
export async function loggingNode(
  to: QueryLogPlace,
  parts: Partial<QueryLogParts> = {},
  threads = 1,
): Promise<LoggingNode> {
  const lines: string[] = []
  const note = (fields: object, message: string): void =>
    void lines.push(`${message} ${JSON.stringify(fields)}`)
  const log: Log = { info: note, warn: note, error: note }
  const queryLog = new QueryLog({
    ...{ to, sampleEvery: 1, threads: threads + 1, log },
    ...{ node: 'n1', version: 'gslbd test', truncateClients: false },
    ...parts,
  })
  queryLog.start()
  const started = await startedNode({ trusted: seal, threads, queryLog: queryLog.rings })
  const publication = publish(seal, loggedModel, { seq: 1, commit: loggedCommit })
  const activated = await started.node.activate(publication)
  if (!activated.ok) throw new Error(activated.error.message)
  const finish = async (): Promise<void> => {
    await started.stop()
    await queryLog.stop()
  }
  onTestFinished(finish)
  return { ...started, queryLog, lines, finish }
}
