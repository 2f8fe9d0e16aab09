// Parts: the redirect listener, and the pushes of redirects and of zones to other servers.
import { randomUUID } from 'node:crypto'
import { ZonePushes } from '#node/zone-push/zone-pushes.ts'
import { createRedirectListener, openRedirectListener } from '#node/compose/redirects.ts'
import { RedirectPushes } from '#node/compose/redirect-targets.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { certifyRedirects } from '#node/certificates/given-certificate.ts'
import type { Given, Outcome } from '#node/parts/part.ts'
import type { Has } from '#node/parts/part-outputs.ts'

type Needs = Given & Has<'redirects' | 'certificates'>

/** Created before the node, which passes it each active bundle. */
export const createRedirects = async ({
  settings,
  log,
}: Given): Promise<Outcome<Has<'redirects' | 'redirectPushes'>>> => {
  const redirects = await createRedirectListener(settings.redirect, log)
  const pushes = new RedirectPushes(settings.redirect, systemClock, log)
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
  certifyRedirects(redirects, certificates?.given ?? null)
  const opened = await openRedirectListener(redirects, log, before?.sockets)
  return opened.ok ? ok({ gives: {} }) : opened
}

type PushesNeed = Given & Has<'records' | 'dynamicDns' | 'node' | 'health'>

/** A job runs their looks. */
export const pushZones = (have: PushesNeed): Outcome<Has<'zonePushes'>> => {
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
