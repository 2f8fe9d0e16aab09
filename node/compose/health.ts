// Composes the health side of a node: probes, their store, external signals, the policy.
import { join } from 'node:path'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { createHealthMonitor } from '#health/view/monitor.ts'
import type { HealthMonitor } from '#health/view/monitor.ts'
import { createHealthView } from '#health/view/view.ts'
import type { HealthPeers } from '#health/view/view.ts'
import { spawnHealthWorker } from '#health/thread/worker-keeper.ts'
import { createFileHealthVerdicts } from '#state/file/health-verdicts.ts'
import type { EphemeralState } from '#state/ephemeral.ts'
import type { PeerHealth } from '#state/ports/peer-health.ts'
import type { Settings } from '#settings/settings.ts'

/**
 * @param shared carries verdicts of outside monitors, and through Redis those of other nodes
 *
 * @param environment of the process, for scripts
 * @param mayBegin resolves when the data directory is held: before, nothing is probed, stored or
 * told. Left out: it is held
 * @returns null when health checks are off: every member then counts as healthy
 */
export function createNodeHealth(
  settings: Settings,
  shared: Pick<EphemeralState, 'healthSignals' | 'peerHealth'>,
  log: Log,
  environment: Readonly<Record<string, string | undefined>>,
  mayBegin?: Promise<unknown>,
): HealthMonitor | null {
  const { dataDir, health, state } = settings
  if (!health.enabled) return null
  const { allowScriptChecks, webhookAllowedHosts, clientCertificates } = health
  const probeSettings = {
    allowScriptChecks,
    webhookAllowedHosts,
    clientCertificates,
    environment: allowScriptChecks ? { ...environment } : {},
  }
  const clock = systemClock
  const local = createHealthMonitor({
    verdicts: createFileHealthVerdicts(join(dataDir, 'health', 'verdicts.jsonl'), log, mayBegin),
    ...(mayBegin === undefined ? {} : { mayBegin }),
    log,
    clock,
    runsScripts: allowScriptChecks,
    spawn: () => spawnHealthWorker(probeSettings),
  })
  return createHealthView({
    local,
    signals: shared.healthSignals,
    peers: peersOf(settings, shared.peerHealth),
    policy: state.healthPolicy,
    quorumMinPercent: state.quorumMinPercent,
    ...(mayBegin === undefined ? {} : { mayTell: mayBegin }),
    clock,
    after: (delayMs, fn) => {
      const timer = setTimeout(fn, delayMs)
      return () => {
        clearTimeout(timer)
      }
    },
    log,
  })
}

/** Without a bus each node is alone, and each policy comes to its own view. */
function peersOf(settings: Settings, bus: PeerHealth): HealthPeers | null {
  const { redis, state, node, health, roles, api } = settings
  const own = { node: state.nodeName, site: siteOf(node.labels), bus }
  if (roles.includes('agent')) return { ...own, probers: health.probers, isAgent: true }
  if (redis.url !== '') return { ...own, probers: health.probers }
  // Agents report over HTTP; this node sends them nothing.
  const receivesAgents = roles.includes('control') && api.enabled
  return receivesAgents ? { ...own, probers: 0, isLone: true } : null
}

/** The site of a node; nodes of a site, or without a label, share the probing. */
function siteOf({ region, site = '' }: Settings['node']['labels']): string {
  return region ?? site
}
