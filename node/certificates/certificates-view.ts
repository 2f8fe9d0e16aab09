// Shows the certificate of an ACME server to the API, and to alerts.
import type { RenewalFacts } from '#alerts/facts.ts'
import type { Certificates } from '#ports/certificates.ts'
import type { AcmeKeeper } from '#integrations/acme/acme-keeper.ts'
import type { CertificateVault } from '#integrations/acme/certificate-vault.ts'
import { renewalOf as renewalKnown } from '#integrations/acme/renewal-window.ts'
import { dueMs, replacedFault } from '#integrations/acme/renewal.ts'
import { wishOf } from './acme-keeper.ts'
import type { Settings } from '#settings/settings.ts'

type Vault = Pick<CertificateVault, 'state' | 'fault' | 'nowMs'>

/**
 * @param vault null: the settings ask for no certificate
 * @param keeper undefined: not started yet
 */
export function createCertificatesView(
  { acme }: Pick<Settings, 'acme'>,
  vault: Vault | null,
  keeper: () => Pick<AcmeKeeper, 'clockOffsetMs'> | undefined,
): Certificates {
  return {
    view: () => {
      if (vault === null) return null
      const { certificate, renewal, holder, failure } = vault.state
      const known = certificate && renewalKnown(renewal, certificate)
      return {
        ...{ directory: acme.directory, names: acme.names, failure },
        certificate: certificate && {
          ...certificate,
          renewAtMs: dueMs(certificate, renewal, vault.nowMs()),
          suggested: known?.window ?? null,
        },
        isOrdering: holder !== null,
        clockOffsetMs: keeper()?.clockOffsetMs ?? null,
        fault: vault.fault ?? settingsFault(acme, vault),
      }
    },
  }
}

/** @param vault null: the settings ask for no certificate */
export function renewalOf(acme: Settings['acme'], vault: Vault | null): RenewalFacts | null {
  if (vault === null) return null
  const { certificate, failure } = vault.state
  return {
    names: acme.names,
    failure: vault.fault ?? settingsFault(acme, vault) ?? failure?.message ?? null,
    nextMs: failure?.nextMs ?? null,
    valid: certificate && { fromMs: certificate.notBeforeMs, toMs: certificate.notAfterMs },
  }
}

const settingsFault = (acme: Settings['acme'], vault: Vault): string | null =>
  replacedFault(vault.state, wishOf(acme), vault.nowMs())
