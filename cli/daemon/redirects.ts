// Parts: the redirect listener, and the servers of others that get the redirects as well.
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { RedirectServer } from '#runtime/redirect/redirect-server.ts'
import type { Part } from './part.ts'

/** Before the node, which hands it each bundle that serves. */
export const createRedirects: Part = ({ settings: { redirect }, log }) => {
  const { enabled, ...settings } = redirect
  if (!enabled) return ok({ gives: { redirects: null } })
  const { port = 0, https } = settings
  const parts = { settings: { ...settings, port, https }, clock: systemClock, log }
  const redirects = new RedirectServer(parts)
  return ok({ gives: { redirects }, stop: () => redirects.stop() })
}

/** When the stored bundle serves, if there is one; until there is, requests are answered 503. */
export const openRedirects: Part = async ({ redirects, log }) => {
  if (redirects === null) return ok({})
  const started = await redirects.start()
  if (!started.ok) return started
  const { port, httpsPort } = started.value
  log.info({ port, httpsPort }, 'redirects are answered')
  return ok({})
}
