// Shows the certificates of an ACME server to the API, and to alerts.
import type { RenewalFacts } from '#alerts/facts.ts'
import type { Certificates } from '#ports/certificates.ts'
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
        const { certificate, renewal, holder, failure } = one.state
        const known = certificate && renewalKnown(renewal, certificate)
        return {
          ...{ entry: entry === '' ? null : entry, failure },
          ...{ directory: wish.directory, names: wish.names },
          certificate: certificate && {
            ...certificate,
            renewAtMs: dueMs(certificate, renewal, one.nowMs()),
            suggested: known?.window ?? null,
          },
          isOrdering: isOrderOf(holder, entry),
          clockOffsetMs: node()?.clockOffsetMs ?? null,
          fault: faultOf(wish, one),
        }
      }),
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
