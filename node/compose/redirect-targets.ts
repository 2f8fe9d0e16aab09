// Composes the push of redirects to other servers, as the settings name them.
import type { Bundle } from '#bundle/format/bundle.ts'
import { redirectsOf } from '#bundle/format/bundle.ts'
import { createCaddy } from '#integrations/redirects/caddy.ts'
import { createCdn } from '#integrations/redirects/cdn.ts'
import { createGateway } from '#integrations/redirects/gateway.ts'
import { createNginx } from '#integrations/redirects/nginx.ts'
import { Reconciler } from '#integrations/redirects/reconciler.ts'
import type { TargetStatus } from '#integrations/redirects/reconciler.ts'
import { pushedOf } from '#integrations/redirects/rule.ts'
import type { PushedRedirect } from '#integrations/redirects/rule.ts'
import type { RedirectTarget } from '#integrations/redirects/target.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { RedirectSection } from '#settings/sections/redirect.ts'

export function redirectTargets({
  caddy,
  nginx,
  gatewayAPI,
  cdn,
}: RedirectSection): readonly RedirectTarget[] {
  const { configDir = '' } = nginx
  return [
    ...(caddy.enabled ? [createCaddy(caddy)] : []),
    ...(nginx.enabled ? [createNginx({ ...nginx, configDir })] : []),
    ...(gatewayAPI.enabled ? [createGateway(gatewayAPI, process.env)] : []),
    ...(cdn.enabled ? [createCdn(cdn)] : []),
  ]
}

const sectionNames = ['redirectUid', 'redirectRow', 'redirectText']

/** Follows the active bundle. */
export class RedirectPushes {
  readonly #reconcilers: readonly Reconciler[]
  #digests = ''
  #wanted: readonly PushedRedirect[] | undefined

  constructor(settings: RedirectSection, clock: Clock, log: Log) {
    const { reconcileIntervalMs: intervalMs } = settings
    const wanted = (): readonly PushedRedirect[] | undefined => this.#wanted
    this.#reconcilers = redirectTargets(settings).map(
      (target) => new Reconciler({ target, wanted, intervalMs, clock, log }),
    )
  }

  serve(bundle: Bundle): void {
    if (this.#reconcilers.length === 0) return
    const digests = bundle.manifest.sections
      .filter(({ name }) => sectionNames.includes(name))
      .map(({ sha256 }) => sha256)
      .join()
    if (digests === this.#digests) return
    this.#digests = digests
    this.#wanted = pushedOf(redirectsOf(bundle))
    for (const one of this.#reconcilers) one.changed()
  }

  /** To be called every few seconds. */
  tick(): void {
    for (const one of this.#reconcilers) one.tick()
  }

  status(): readonly TargetStatus[] {
    return this.#reconcilers.map((one) => one.status())
  }

  async stop(): Promise<void> {
    await Promise.all(this.#reconcilers.map((one) => one.stop()))
  }
}
