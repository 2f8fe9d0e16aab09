// Creates and opens the redirect listener of a node: rules come in the bundle.
import type { Settings } from '#settings/settings.ts'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { HandedSockets } from '#system/sockets/handed-sockets.ts'
import type { RedirectServer } from '#server/redirect/redirect-server.ts'

/** Loads the listener; null: the settings have none. */
export async function createRedirectListener(
  { enabled, port = 0, ...settings }: Settings['redirect'],
  log: Log,
): Promise<RedirectServer | null> {
  if (!enabled) return null
  const { RedirectServer } = await import('#server/redirect/redirect-server.ts')
  return new RedirectServer({ settings: { ...settings, port }, clock: systemClock, log })
}

/** Errors: a sentence for the operator. */
export async function openRedirectListener(
  redirects: RedirectServer | null,
  log: Log,
  handed?: HandedSockets,
): Promise<Result<null, string>> {
  if (redirects === null) return ok(null)
  const started = await redirects.start(handed)
  if (!started.ok) return started
  const { port, httpsPort } = started.value
  log.info({ port, httpsPort }, 'redirects are answered')
  return ok(null)
}
