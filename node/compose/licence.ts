// Composes the licence of a node: where it comes from, who is told, and what the accepted
// configuration uses beyond it.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { excessMax, licenceExcess } from '#licence/excess.ts'
import { LicenceService } from '#licence/licence-service.ts'
import type { LicenceServiceParts, LicenceOptions } from '#licence/licence-service.ts'
import { createLicenceServer } from '#licence/server.ts'
import { tiers } from '#licence/tiers.ts'
import { parseVendorKey } from '#licence/token.ts'
import type { StatusDiagnostic } from '#diagnostics/status-diagnostic.ts'
import type { ConfigView } from '#config/view.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { HealthMonitor } from '#health/view/monitor.ts'
import { variable } from '#system/process/command.ts'
import type { Io } from '#system/process/command.ts'
import type { NodeState } from '#node/stores/state.ts'
import type { LicenseSection } from '#settings/sections/license.ts'

export interface NodeLicenceParts extends Pick<LicenceServiceParts, 'clock' | 'log' | 'onRate'> {
  readonly settings: LicenseSection
  readonly env: Io['env']
  readonly state: NodeState
  readonly config: ConfigView
  /** Counts nodes and agents through Redis; null: health checks are off. */
  readonly health: Pick<HealthMonitor, 'peers' | 'agents' | 'permitAgents'> | null
  /** Called with the number of probe agents that nodes without a licence accept; Infinity: all. */
  readonly onAgents: (count: number) => void
}

export interface NodeLicence {
  readonly keeper: LicenceService
  /** Checks everything again. */
  readonly refresh: () => Promise<void>
  readonly reload: (settings: LicenseSection) => Promise<void>
  /** Warnings about what the accepted configuration uses beyond the licence. */
  readonly warnings: () => readonly StatusDiagnostic[]
}

/** Opens the database only when a vendor key is set. Errors: a sentence with the setting. */
export function createNodeLicence(parts: NodeLicenceParts): Result<NodeLicence, string> {
  const { settings, env, state, config, health, clock, log, onRate, onAgents } = parts
  const countNodes = (): number => 1 + (health?.peers()?.length ?? 0)
  const countAgents = (): number => health?.agents()?.length ?? 0
  const options = licenceOptionsOf(settings)
  if (!options.ok) return options
  const environmentToken = variable(env, 'GSLB_LICENSE_KEY') ?? ''
  if (options.value.vendorKey === null && (environmentToken !== '' || settings.key !== '')) {
    log.warn({}, 'there is a licence token, but license.publicKey is not set: nothing is checked')
  }
  const keeper = new LicenceService({
    store: state.persistent.licences,
    shared: state.persistent.settings,
    isStarting: state.isBeingMade,
    environmentToken,
    options: options.value,
    installIdCandidate: randomBytes(16).toString('hex'),
    machineId: machineId(),
    countNodes,
    server: createLicenceServer(),
    clock,
    log,
    onRate,
  })
  const warnings = rememberedExcess(keeper, config, { countNodes, countAgents })
  let { vendorKey } = options.value
  const permit = (): void => {
    const { tier, enforced } = keeper.state
    const count = enforced ? tiers[tier].agents : Infinity
    health?.permitAgents(count)
    // An unknown number is not sent: nodes keep the last one.
    if (enforced || vendorKey === null) onAgents(count)
  }
  permit()
  let logged = 0
  const tell = (): void => {
    const count = warnings().length
    if (count === logged) return
    logged = count
    if (count === 0) return log.info({}, 'everything is within the licence again')
    const { file, message } = warnings()[0]!
    const fields = { count, atLeast: count === excessMax, file, tier: keeper.state.tier }
    log.warn(fields, `this is beyond the licence and served all the same: ${message}`)
  }
  return ok({
    keeper,
    refresh: async () => {
      await keeper.refresh()
      permit()
      tell()
    },
    reload: async (next) => {
      const changed = licenceOptionsOf(next)
      if (!changed.ok) log.error({}, `${changed.error}; the one before stays`)
      else {
        ;({ vendorKey } = changed.value)
        await keeper.reload(changed.value)
      }
      permit()
      tell()
    },
    warnings,
  })
}

export function licenceOptionsOf(settings: LicenseSection): Result<LicenceOptions, string> {
  const { publicKey, key, serverURL, refreshIntervalMs } = settings
  const vendorKey = publicKey === '' ? ok(null) : parseVendorKey(publicKey)
  if (!vendorKey.ok) return err(`license.publicKey cannot be used: ${vendorKey.error}`)
  return ok({
    vendorKey: vendorKey.value,
    fileToken: key,
    serverUrl: serverURL,
    refreshIntervalMs,
    rates: settings,
  })
}

/** Computed again when the commit, the tier, or the number of nodes or agents changes. */
function rememberedExcess(
  keeper: LicenceService,
  config: ConfigView,
  { countNodes, countAgents }: Readonly<Record<'countNodes' | 'countAgents', () => number>>,
): () => readonly StatusDiagnostic[] {
  let known = { key: '', found: [] as readonly StatusDiagnostic[] }
  return () => {
    const { tier, enforced } = keeper.state
    if (!enforced || !config.isReady()) return []
    const snapshot = config.snapshot()
    const [nodes, agents] = [countNodes(), countAgents()]
    const key = `${snapshot.revision} ${tier} ${nodes} ${agents}`
    if (key !== known.key) known = { key, found: licenceExcess(snapshot, tier, nodes, agents) }
    return known.found
  }
}

/** systemd's id of the machine; elsewhere its host name. */
function machineId(): string {
  try {
    return readFileSync('/etc/machine-id', 'utf8').trim() || hostname()
  } catch {
    return hostname()
  }
}
