// Part: this node among the nodes of the cluster, and its restart when it is asked for.
import { createClusterView } from '#cli/status/cluster-view.ts'
import { variable } from '#cli/terminal/command.ts'
import type { Io } from '#cli/terminal/command.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { noLongerThan } from '#lib/timer.ts'
import { version } from '#lib/version.ts'
import type { ClusterNode } from '#state/ports/cluster-nodes.ts'
import type { Deps, Part } from './part.ts'

/** The answer to the request goes out before the sockets close. */
const restartAfterMs = 100
const leavePatienceMs = 1_000

export const joinCluster: Part = (deps) => {
  const { settings, shared, env, log } = deps
  const { nodeName } = settings.state
  const nodes = shared.clusterNodes
  const startedAtMs = systemClock.nowMs()
  let isRestarting = false
  const self = (): ClusterNode => ({ ...wordOf(deps, nodeName), startedAtMs })
  const takeRestart = (): string | null => {
    if (!isSupervised(env)) return unsupervised
    if (isRestarting) return null
    isRestarting = true
    log.warn({}, 'a restart was asked for by the API')
    // As an operator would stop it; the exit code says that it is to be started again.
    setTimeout(() => process.kill(process.pid, 'SIGTERM'), restartAfterMs)
    return null
  }
  const forget = nodes.onRestart(nodeName, takeRestart)
  const isShared = settings.redis.url !== ''
  return ok({
    gives: {
      cluster: createClusterView({ self, nodes, isShared, takeRestart, clock: systemClock }),
      announceNode: () => void nodes.announce(self()),
      isRestarting: () => isRestarting,
    },
    stop: async () => {
      forget()
      // One that starts again at once is not missed meanwhile.
      if (isRestarting) return
      await noLongerThan(
        leavePatienceMs,
        nodes.leave(nodeName).then(() => undefined),
      )
    },
  })
}

function wordOf(deps: Deps, name: string): Omit<ClusterNode, 'startedAtMs'> {
  const { node, env } = deps
  const { active } = node.status()
  const counters = node.counters()
  const started = { status: active === null ? 'starting' : 'ok', reasons: [] } as const
  // Undefined while the API is being put together; null where it is off.
  const { operatorView }: Partial<Pick<Deps, 'operatorView'>> = deps
  const health = operatorView?.health() ?? started
  return {
    name,
    version,
    atMs: systemClock.nowMs(),
    commit: active?.commit ?? null,
    digest: active?.digest ?? null,
    seq: active?.seq ?? 0,
    issuedAtMs: active?.issuedAtMs ?? null,
    busyRatio: deps.busyRatio(),
    queries: counters.reduce((sum, one) => sum + one.udpQueries + one.tcpQueries, 0),
    status: health.status,
    reasons: health.reasons.map(({ code }) => code),
    members: node.memberHealth(),
    isSupervised: isSupervised(env),
  }
}

/** systemd and Kubernetes say so; the first process of a container has an engine for it. */
export function isSupervised(env: Io['env'], pid = process.pid): boolean {
  const names = ['INVOCATION_ID', 'KUBERNETES_SERVICE_HOST', 'GSLB_SUPERVISED']
  return pid === 1 || names.some((name) => variable(env, name) !== undefined)
}

const unsupervised =
  'nothing would start this node again: run it under systemd (Restart=always), Kubernetes or ' +
  'another supervisor, and set GSLB_SUPERVISED=1 where that is none of the first two'
