// Defines what a process runs: a daemon that reloads, lets go, and stops.
import type { Settings } from '#settings/settings.ts'
import type { ListenerSockets } from '#system/sockets/handed-sockets.ts'

export interface Daemon {
  /** null: the node answers no DNS. */
  readonly dnsPort: number | null
  /** null: the API is off. */
  readonly apiPort: number | null
  /** Applies settings that need no restart, and logs the others. */
  readonly reload: (settings: Settings) => Promise<void>
  /** The sockets that another process may take over. */
  readonly sockets: () => readonly ListenerSockets[]
  /** Whether the daemon answers from a bundle. */
  readonly isServing: () => boolean
  /**
   * Stops all but the answers, and frees the data directory for the process that replaces this one.
   */
  readonly letGo: () => Promise<void>
  /** Stops all; the answers stop last. */
  readonly stop: () => Promise<void>
  /** True when the API has asked for a restart, so that the supervisor starts the process again. */
  readonly isRestarting: () => boolean
}
