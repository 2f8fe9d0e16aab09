// Shows the certificates of an ACME server to the API, and to alerts.
import type { RenewalFacts } from '#alerts/facts.ts'
import type { AcmeCertificate, Certificates } from '#ports/certificates.ts'
import { unixSeconds } from '#http/shapes.ts'
import type { IssuedCertificate } from '#integrations/acme/acme-state.ts'
import { isOrderOf } from '#integrations/acme/acme-keeper.ts'
import type { CertificateVault, OneCertificate } from '#integrations/acme/certificate-vault.ts'
import { renewalOf as renewalKnown } from '#integrations/acme/renewal-window.ts'
import { dueMs, replacedFault } from '#integrations/acme/renewal.ts'
import { wantedOf } from './acme-keeper.ts'
import type { NodeAcme, WantedCertificate } from './acme-keeper.ts'
import type { Settings } from '#settings/settings.ts'

/**
 * @param vault null: the settings ask for no certificate
 * @param node undefined: not started yet
 */
export function createCertificatesView(
  { acme }: Pick<Settings, 'acme'>,
  vault: Pick<CertificateVault, 'of'> | null,
  node: () => Pick<NodeAcme, 'clockOffsetMs'> | undefined,
): Certificates {
  return {
    view: () =>
      knownIn(acme, vault).map(({ entry, wish, one }) => {
        const { certificate, holder, failure } = one.state
        const offsetMs = node()?.clockOffsetMs ?? null
        return {
          entry: entry === '' ? null : entry,
          ...{ directory: wish.directory, names: wish.names },
          certificate: certificate && shownCertificate(certificate, one),
          isOrdering: isOrderOf(holder, entry),
          failure: failure && {
            ...{ code: failure.code, message: failure.message, count: failure.count },
            ...{ at: unixSeconds(failure.atMs), next: unixSeconds(failure.nextMs) },
          },
          clockOffsetSeconds: offsetMs === null ? null : unixSeconds(offsetMs),
          fault: faultOf(wish, one),
        }
      }),
  }
}

function shownCertificate(
  certificate: IssuedCertificate,
  { state: { renewal }, nowMs }: OneCertificate,
): AcmeCertificate['certificate'] {
  const { names, notBeforeMs, notAfterMs } = certificate
  const window = renewalKnown(renewal, certificate)?.window ?? null
  return {
    ...{ names, notBefore: unixSeconds(notBeforeMs), notAfter: unixSeconds(notAfterMs) },
    renewAt: unixSeconds(dueMs(certificate, renewal, nowMs())),
    suggested: window && {
      from: unixSeconds(window.startMs),
      to: unixSeconds(window.endMs),
      why: window.why,
    },
  }
}

/** @param vault null: the settings ask for no certificate */
export const renewalsOf = (
  acme: Settings['acme'],
  vault: Pick<CertificateVault, 'of'> | null,
): readonly RenewalFacts[] =>
  knownIn(acme, vault).map(({ entry, wish, one }) => {
    const { certificate, failure } = one.state
    return {
      ...{ entry, names: wish.names, failure: faultOf(wish, one) ?? failure?.message ?? null },
      nextMs: failure?.nextMs ?? null,
      valid: certificate && { fromMs: certificate.notBeforeMs, toMs: certificate.notAfterMs },
    }
  })

type Known = WantedCertificate & { readonly one: OneCertificate }

const knownIn = (
  acme: Settings['acme'],
  vault: Pick<CertificateVault, 'of'> | null,
): readonly Known[] =>
  vault === null ? [] : wantedOf(acme).map((is) => ({ ...is, one: vault.of(is.entry) }))

const faultOf = (wish: WantedCertificate['wish'], one: OneCertificate): string | null =>
  one.fault ?? replacedFault(one.state, wish, one.nowMs())
