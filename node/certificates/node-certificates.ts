// Composes the certificates of an ACME server on a control node: the database, their copy, and news
// of other nodes.
import { join } from 'node:path'
import { assert } from '#lib/assert.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { systemAfter } from '#lib/timer.ts'
import { certificateCopyFile, createCertificateCopy } from '#integrations/acme/certificate-copy.ts'
import { CertificateVault } from '#integrations/acme/certificate-vault.ts'
import { givenBy } from '#node/certificates/given-certificate.ts'
import { readCertificateKey } from '#process/data/secrets.ts'
import type { NodeState } from '#node/stores/state.ts'
import type { GivenCertificates } from '#server/tls/sources.ts'
import { asksForCertificate } from '#settings/sections/acme.ts'
import type { Settings } from '#settings/settings.ts'
import { listenForChanges } from '#state/sql/change-listener.ts'
import type { ChangeListener } from '#state/sql/change-listener.ts'
import { certificatesChannel } from '#state/sql/tls/certificates.ts'
import type { Io } from '#system/process/command.ts'

interface NodeCertificatesParts {
  readonly settings: Pick<Settings, 'dataDir' | 'acme'> & {
    readonly database: Pick<Settings['database'], 'url'>
  }
  readonly env: Io['env']
  readonly state: Pick<NodeState, 'persistent'>
  readonly clock: Clock
  readonly log: Log
}

export interface NodeCertificates {
  readonly vault: CertificateVault
  /** For the listeners that use them. */
  readonly given: GivenCertificates
  /** Listens to writes of other nodes. */
  readonly follow: () => void
  readonly stop: () => Promise<void>
}

/**
 * The copy is in force when this returns. null: the settings ask for no certificate. Errors: a
 * sentence for the operator.
 */
export function startCertificates(
  parts: NodeCertificatesParts,
): Result<NodeCertificates | null, string> {
  const { settings, env, state, clock, log } = parts
  if (!asksForCertificate(settings.acme)) return ok(null)
  const key = readCertificateKey(env)
  if (!key.ok) return key
  const secretKey = key.value
  const copy = createCertificateCopy(join(settings.dataDir, certificateCopyFile), secretKey, log)
  const store = state.persistent.certificates
  const vault = new CertificateVault({ store, copy, secretKey, clock, log })
  vault.start()
  let listener: ChangeListener | undefined
  const { url } = settings.database
  return ok({
    vault,
    given: givenBy(vault),
    follow: () => {
      assert(listener === undefined, 'the database is listened to once')
      const news = (): void => void vault.refresh()
      if (url !== '') listener = listenForChanges(url, certificatesChannel, news, systemAfter)
    },
    stop: async () => listener?.close(),
  })
}
