// The nodes of the cluster in Redis: a hash with each node's report, and messages for restarts.
import { randomUUID } from 'node:crypto'
import type { Clock } from '#lib/clock.ts'
import { fieldsOf, parseJson } from '#lib/text/json.ts'
import { ok } from '#lib/result.ts'
import { clusterNodeLimits } from '../ports/cluster-nodes.ts'
import type { ClusterNode, ClusterNodes } from '../ports/cluster-nodes.ts'
import { listHash } from './read-hash.ts'
import type { Redis } from './redis.ts'

const orders = 'cluster-restarts'
const answers = 'cluster-restart-answers'

interface Order {
  readonly id: string
  readonly node: string
}

interface Answer {
  readonly id: string
  readonly fault: string | null
}

export function createRedisClusterNodes(redis: Redis, clock: Clock): ClusterNodes {
  const key = redis.key('cluster', 'nodes')
  const { forgottenMs, nodesMax, restartAnswerMs } = clusterNodeLimits
  const publish = (channel: string, message: Order | Answer) =>
    redis.command('PUBLISH', redis.key(channel), JSON.stringify(message))
  return {
    announce: (node) => redis.tell('HSET', key, node.name, JSON.stringify(node)),
    leave: (name) => redis.tell('HDEL', key, name),
    list: () => {
      const oldestMs = clock.nowMs() - forgottenMs
      return listHash(redis, key, nodesMax, (name, text) => {
        const node = nodeIn(text)
        return node?.name !== name || node.atMs < oldestMs ? undefined : node
      })
    },
    askRestart: async (name) => {
      const id = randomUUID()
      const answered = Promise.withResolvers<string | null | undefined>()
      const leave = redis.subscribe(answers, (text) => {
        const answer = fieldsOf(parseJson(text)) as Partial<Answer>
        if (answer.id === id) answered.resolve(answer.fault)
      })
      const timer = setTimeout(() => answered.resolve(undefined), restartAnswerMs)
      try {
        await redis.listening()
        const asked = await publish(orders, { id, node: name })
        return asked.ok ? ok(await answered.promise) : asked
      } finally {
        clearTimeout(timer)
        leave()
      }
    },
    onRestart: (name, take) =>
      redis.subscribe(orders, (text) => {
        const order = fieldsOf(parseJson(text)) as Partial<Order>
        if (order.node !== name || typeof order.id !== 'string') return
        void publish(answers, { id: order.id, fault: take() })
      }),
  }
}

/** undefined: written by another version of gslbd, or by another program. */
function nodeIn(text: string): ClusterNode | undefined {
  const node = fieldsOf(parseJson(text)) as Partial<ClusterNode>
  const { name, version, status } = node
  const areTexts = [name, version, status].every((one) => typeof one === 'string')
  const { atMs, startedAtMs, seq, busyRatio, queries } = node
  const areNumbers = [atMs, startedAtMs, seq, busyRatio, queries].every(Number.isFinite)
  const hasLists = Array.isArray(node.reasons) && typeof node.members === 'object'
  return areTexts && areNumbers && hasLists ? (node as ClusterNode) : undefined
}
