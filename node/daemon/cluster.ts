// Part: announces this node in the cluster, and restarts it on request.
import { randomBytes } from 'node:crypto'
import { createClusterView } from '#node/status/cluster-view.ts'
import { nodeReport, refusedHere } from '#node/status/node-report.ts'
import { variable } from '#system/process/command.ts'
import type { Io } from '#system/process/command.ts'
import { DriftWatch } from '#fleet/drift.ts'
import { createNodeInventory } from '#fleet/node-inventory.ts'
import type { SharedReports } from '#fleet/node-inventory.ts'
import { NodeList } from '#fleet/nodes/node-list.ts'
import type { NodeReport } from '#fleet/nodes/node-report.ts'
import { systemClock } from '#lib/clock.ts'
import { followersIn } from './telemetry.ts'
import { ok } from '#lib/result.ts'
import { noLongerThan } from '#lib/timer.ts'
import { version } from '#lib/version.ts'
import type { ClusterNode } from '#state/ports/cluster-nodes.ts'
import type { Given, Outcome } from '#node/parts/part.ts'
import type { Has } from '#node/parts/part-outputs.ts'

/** The response to the request is sent before the sockets close. */
const restartAfterMs = 100
const leavePatienceMs = 1_000
/** The period of the job that announces the node. */
const announceMs = 5_000

type Needs = Given & Has<'shared' | 'node' | 'telemetry'>
type OfFleet = 'inventory' | 'drifted' | 'lookAtFleet'
type Gives = Has<'cluster' | 'announceNode' | 'isRestarting' | OfFleet>

export const joinCluster = (have: Needs): Outcome<Gives> => {
  const { settings, shared, env, log } = have
  const { nodeName } = settings.state
  const nodes = shared.clusterNodes
  const startedAtMs = systemClock.nowMs()
  let isRestarting = false
  const self = (): ClusterNode => ({ ...wordOf(have, nodeName), startedAtMs })
  const takeRestart = (): string | null => {
    if (!isSupervised(env)) return unsupervised
    if (isRestarting) return null
    isRestarting = true
    log.warn({}, 'a restart was asked for by the API')
    // Stops as at an operator's SIGTERM; the exit code asks the supervisor for a new start.
    setTimeout(() => process.kill(process.pid, 'SIGTERM'), restartAfterMs)
    return null
  }
  const forget = nodes.onRestart(nodeName, takeRestart)
  const isShared = settings.redis.url !== ''
  const inventory = createNodeInventory(
    systemClock,
    isShared ? sharedBy(have) : undefined,
    listOf(have),
  )
  const watch = new DriftWatch(systemClock, () => givenBy(have))
  const drifted = (): ReturnType<DriftWatch['look']> => watch.look(inventory.all())
  const instance = randomBytes(8).toString('hex')
  const report = (): NodeReport => ({ ...reportOf(have, instance), startedAtMs })
  return ok({
    gives: {
      cluster: createClusterView({
        ...{ self, nodes, isShared, takeRestart, clock: systemClock },
        fleet: async () => {
          inventory.report(report())
          await inventory.refresh()
          return drifted()
        },
      }),
      announceNode: () => {
        void nodes.announce(self())
        inventory.report(report())
      },
      ...{ inventory, drifted },
      lookAtFleet: async () => {
        await inventory.refresh()
        drifted()
        for (const one of followersIn(inventory)) have.telemetry.heard(one)
      },
      isRestarting: () => isRestarting,
    },
    stop: async () => {
      forget()
      // A node that restarts at once does not announce that it leaves: nobody misses it meanwhile.
      if (isRestarting || have.isReplaced) return
      inventory.report({ ...report(), isLeaving: true })
      await noLongerThan(
        leavePatienceMs,
        nodes.leave(nodeName).then(() => undefined),
      )
    },
  })
}

function reportOf(have: Needs, instance: string): NodeReport {
  const { settings, node, later } = have
  const busyRatio = later.busyRatio ?? (() => 0)
  const parts = { settings, node, instance, busyRatio, clock: systemClock }
  const pulled = { ...refusedHere(node, systemClock), againMs: announceMs }
  return nodeReport({ ...parts, role: 'control', startedAtMs: 0 }, pulled)
}

function givenBy(have: Needs): ReturnType<ConstructorParameters<typeof DriftWatch>[1]> {
  const { active, publisher } = have.node.status()
  if (active === null) return undefined
  const view = have.later.delivery?.keeper.view()
  if (view !== null && view !== undefined) return { publisher, ...view.state.good }
  return { publisher, seq: active.seq, digest: active.digest }
}

function listOf({ settings, log }: Needs): NodeList {
  const { listFile, unlisted } = settings.node
  return new NodeList(listFile, unlisted, systemClock, log)
}

function sharedBy({ shared: { pullingNodes } }: Needs): SharedReports {
  return {
    tell: (word) => pullingNodes.tell(word),
    list: async () => {
      const listed = await pullingNodes.list()
      return listed.ok ? listed.value : undefined
    },
  }
}

function wordOf(have: Needs, name: string): Omit<ClusterNode, 'startedAtMs'> {
  const { node, env, settings, later } = have
  const { active } = node.status()
  const counters = node.counters()
  const started = { status: active === null ? 'starting' : 'ok', reasons: [] } as const
  const health = later.operatorView?.health() ?? started
  return {
    name,
    version,
    atMs: systemClock.nowMs(),
    commit: active?.commit ?? null,
    digest: active?.digest ?? null,
    seq: active?.seq ?? 0,
    issuedAtMs: active?.issuedAtMs ?? null,
    busyRatio: later.busyRatio?.() ?? 0,
    queries: counters.reduce((sum, one) => sum + one.udpQueries + one.tcpQueries, 0),
    answersDns: settings.roles.includes('dns'),
    status: health.status,
    reasons: health.reasons.map(({ code }) => code),
    members: node.memberHealth(),
    isSupervised: isSupervised(env),
  }
}

/**
 * Whether something starts the process again: systemd and Kubernetes announce themselves, and the
 * first process of a container has an engine.
 */
function isSupervised(env: Io['env']): boolean {
  const names = ['INVOCATION_ID', 'KUBERNETES_SERVICE_HOST', 'GSLB_SUPERVISED']
  return process.pid === 1 || names.some((name) => variable(env, name) !== undefined)
}

const unsupervised =
  'nothing would start this node again: run it under systemd (Restart=always), Kubernetes or ' +
  'another supervisor, and set GSLB_SUPERVISED=1 where that is none of the first two'
