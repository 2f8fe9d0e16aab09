// Composes the alerts of a node: its findings, the database, and the senders of messages.
import { randomBytes } from 'node:crypto'
import { AlertKeeper } from '#alerts/cluster/alert-keeper.ts'
import type { NodeAlertFacts } from '#alerts/cluster/alert-keeper.ts'
import { createSender } from '#alerts/send-by-channel.ts'
import type { SendByChannel } from '#alerts/send-by-channel.ts'
import { LookupLane } from '#alerts/send/open-addresses.ts'
import { readSecrets } from '#process/data/secrets.ts'
import type { Settings } from '#settings/settings.ts'
import type { Io } from '#system/process/command.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { Random } from '#lib/random.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { networksOf } from '#routing/tables/network-list.ts'
import type { NodeState } from '#node/stores/state.ts'

interface NodeAlertsParts {
  readonly settings: Settings
  readonly env: Io['env']
  readonly state: Pick<NodeState, 'persistent' | 'exists'>
  readonly facts: NodeAlertFacts
  readonly clock: Clock
  readonly log: Log
}

export interface NodeAlerts {
  readonly keeper: AlertKeeper
  /** Sends the test message of a channel. */
  readonly send: SendByChannel
}

/** Errors: a sentence for the operator. */
export function createNodeAlerts(parts: NodeAlertsParts): Result<NodeAlerts, string> {
  const { settings, env, state, facts, clock, log } = parts
  const secrets = readSecrets(env)
  if (!secrets.ok) return secrets
  const { nodeName } = settings.state
  const isAlone = settings.database.url === ''
  const allowed = networksOf(settings.alerts.allowedHosts)
  const way = { lookUp: new LookupLane().ask, allowed }
  const send = createSender({ secretKey: secrets.value.secretKey, way, log })
  const keeper = new AlertKeeper({
    store: state.persistent.alerts,
    // On a node without an API nobody could ask for alerts in its own database.
    isThere: () => (isAlone ? settings.api.enabled && state.exists() : true),
    isAlone,
    node: nodeName,
    holder: `${nodeName}/${randomBytes(8).toString('hex')}`,
    facts,
    settings: settings.alerts,
    send,
    clock,
    random: new Random(process.pid),
    log,
  })
  return ok({ keeper, send })
}
