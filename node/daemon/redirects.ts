// Parts: the redirect listener, and the pushes of redirects and of zones to other servers.
import { randomUUID } from 'node:crypto'
import { ZonePushes } from '#node/zone-push/zone-pushes.ts'
import { RedirectPushes } from '#node/compose/redirect-targets.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { certifyRedirects } from '#node/certificates/given-certificate.ts'
import { RedirectServer } from '#server/redirect/redirect-server.ts'
import type { Given, Outcome } from '#node/parts/part.ts'
import type {
  HasDynamicDns,
  HasNode,
  HasRecords,
  HasZonePushes,
  HasCertificates,
  HasRedirects,
} from '#node/parts/part-outputs.ts'

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

type PushesNeed = Given & HasRecords & HasDynamicDns & HasNode

/** A job runs their looks. */
export const pushZones = (have: PushesNeed): Outcome<HasZonePushes> => {
  const { settings, records, dynamicDns, node, health, env, log } = have
  if (Object.keys(settings.zonePush.targets).length === 0)
    return ok({ gives: { zonePushes: null } })
  const zonePushes = new ZonePushes({
    ...{ settings: settings.zonePush, store: records.state.persistent.zonePushes },
    ...{ bundle: () => node.bundle(), written: dynamicDns.texts, env, log },
    verdictOf: (uid, address) => health?.verdictOf(uid, address),
    ...{ node: settings.state.nodeName, instance: randomUUID(), clock: systemClock },
  })
  return ok({ gives: { zonePushes }, stop: () => zonePushes.stop() })
}
