// Parts: the redirect listener, and the push of redirects to other servers.
import { RedirectPushes } from '#node/compose/redirect-targets.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { certifyRedirects } from '#node/certificates/given-certificate.ts'
import { RedirectServer } from '#server/redirect/redirect-server.ts'
import type { Given, Outcome } from '#node/parts/part.ts'
import type { HasCertificates, HasRedirects } from '#node/parts/part-outputs.ts'

type Needs = Given & HasRedirects & HasCertificates

/** Created before the node, which passes it each active bundle. */
export const createRedirects = ({ settings, log }: Given): Outcome<HasRedirects> => {
  const { redirect } = settings
  const pushes = new RedirectPushes(redirect, systemClock, log)
  const { enabled, port = 0, ...listener } = redirect
  const parts = { settings: { ...listener, port }, clock: systemClock, log }
  const redirects = enabled ? new RedirectServer(parts) : null
  return ok({
    gives: { redirects, redirectPushes: pushes },
    stop: () => pushes.stop(),
    stopLast: () => redirects?.stop(),
  })
}

/**
 * Opened when the stored bundle is active, if there is one; until a bundle is, requests get 503.
 */
export const openRedirects = async (have: Needs): Promise<Outcome> => {
  const { redirects, certificates, before, log } = have
  if (redirects === null) return ok({ gives: {} })
  certifyRedirects(redirects, certificates?.given ?? null)
  const started = await redirects.start(before?.sockets)
  if (!started.ok) return started
  const { port, httpsPort } = started.value
  log.info({ port, httpsPort }, 'redirects are answered')
  return ok({ gives: {} })
}
