// Shows the certificate of an ACME server to the API, and to alerts.
import type { RenewalFacts } from '#alerts/facts.ts'
import type { Certificates } from '#api/acme/certificates.ts'
import type { AcmeKeeper } from '#integrations/acme/acme-keeper.ts'
import type { AcmeState } from '#integrations/acme/acme-state.ts'
import type { CertificateVault } from '#integrations/acme/certificate-vault.ts'
import { replacedFault } from '#integrations/acme/renewal.ts'
import { systemClock } from '#lib/clock.ts'
import { wishOf } from './acme-keeper.ts'
import type { Settings } from '#settings/settings.ts'

/** @param vault null: the settings ask for none @param keeper undefined: it has not started yet */
export function createCertificatesView(
  { acme }: Pick<Settings, 'acme'>,
  vault: Pick<CertificateVault, 'state' | 'fault'> | null,
  keeper: () => Pick<AcmeKeeper, 'clockOffsetMs'> | undefined,
): Certificates {
  return {
    view: () => {
      if (vault === null) return null
      const { certificate, holder, failure } = vault.state
      return {
        ...{ directory: acme.directory, names: acme.names, certificate, failure },
        isOrdering: holder !== null,
        clockOffsetMs: keeper()?.clockOffsetMs ?? null,
        fault: vault.fault ?? settingsFault(acme, vault.state),
      }
    },
  }
}

/** @param vault null: the settings ask for none */
export function renewalOf(
  acme: Settings['acme'],
  vault: Pick<CertificateVault, 'state' | 'fault'> | null,
): RenewalFacts | null {
  if (vault === null) return null
  const { certificate, failure } = vault.state
  return {
    names: acme.names,
    failure: vault.fault ?? settingsFault(acme, vault.state) ?? failure?.message ?? null,
    nextMs: failure?.nextMs ?? null,
    valid: certificate && { fromMs: certificate.notBeforeMs, toMs: certificate.notAfterMs },
  }
}

const settingsFault = (acme: Settings['acme'], state: AcmeState): string | null =>
  replacedFault(state, wishOf(acme), systemClock.nowMs())
