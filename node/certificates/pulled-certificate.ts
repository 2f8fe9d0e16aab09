// The certificate on a node of the role dns: sent by a control node, and kept in a copy.
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { emptyState, readState } from '#integrations/acme/acme-state.ts'
import type { AcmeState } from '#integrations/acme/acme-state.ts'
import { certificateCopyFile, createCertificateCopy } from '#integrations/acme/certificate-copy.ts'
import { isOlder } from '#integrations/acme/renewal.ts'
import type { CertificateCopy } from '#integrations/acme/certificate-copy.ts'
import { KeyPuller, certificateKind } from '#fleet/keys/key-puller.ts'
import type { KeyPullerParts } from '#fleet/keys/key-puller.ts'
import { assert } from '#lib/assert.ts'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { systemAfter } from '#lib/timer.ts'
import { copyKeyOf } from '#node/signing/pull-keys.ts'
import type { Settings } from '#settings/settings.ts'
import type { Io } from '#system/process/command.ts'

/** Number of a certificate that fits into an envelope; 0: there is none. */
export function revisionOf({ certificate }: Pick<AcmeState, 'certificate'>): number {
  return certificate === null ? 0 : numberOf(certificate.chain)
}

/** Number of all that a node is sent: the certificate and challenges. */
export function sentRevisionOf(state: Pick<AcmeState, 'certificate' | 'challenges'>): number {
  const { challenges, certificate } = state
  if (challenges.length === 0) return revisionOf(state)
  return numberOf(`${certificate?.chain ?? ''}${JSON.stringify(challenges)}`)
}

const numberOf = (text: string): number =>
  Number.parseInt(hash('sha256', text).slice(0, 12), 16) + 1

export class PulledCertificate {
  readonly #copy: CertificateCopy
  readonly #handlers = new Set<() => void>()
  readonly #nowMs: () => number
  #state: AcmeState = emptyState
  #sentRevision = 0

  constructor(copy: CertificateCopy, nowMs: () => number = systemClock.nowMs) {
    this.#copy = copy
    this.#nowMs = nowMs
  }

  /** Takes what the copy has. */
  start(): void {
    this.#state = this.#copy.read() ?? emptyState
    this.#sentRevision = sentRevisionOf(this.#state)
  }

  get state(): AcmeState {
    return this.#state
  }

  /** The revision that was sent last. */
  get sentRevision(): number {
    return this.#sentRevision
  }

  get revision(): number {
    return revisionOf(this.#state)
  }

  onChange(handler: () => void): void {
    this.#handlers.add(handler)
  }

  /**
   * @param revision what the envelope said, which was signed
   * @param text what was in it
   * Errors: a sentence; the certificate before stays.
   */
  take(revision: number, text: string): Result<null, string> {
    const read = readState(text)
    if (!read.ok) return read
    const { certificate, challenges } = read.value
    if (sentRevisionOf({ certificate, challenges }) !== revision)
      return err('it is of another revision')
    const own = this.#state.certificate
    const isBehind = own !== null && certificate !== null && isOlder(certificate, own)
    if (isBehind && this.#nowMs() < own.notAfterMs) return err(older)
    // A control node whose database is new has none yet.
    this.#state = { ...emptyState, certificate: certificate ?? own, challenges }
    assert(own === null || this.revision !== 0, 'a certificate in use is only ever replaced')
    this.#sentRevision = revision
    this.#copy.write(this.#state)
    for (const handler of this.#handlers) handler()
    return ok(null)
  }
}

const older = 'its certificate is older than the one in use, which is valid'

/** Control nodes give no certificate without a token. */
const noCopy: CertificateCopy = { read: () => undefined, write: () => undefined }

/** The copy is in force when this returns. null: the settings use no certificate. */
export function openPulledCertificate(
  { dns, redirect }: Pick<Settings, 'dns' | 'redirect'>,
  dataDir: string,
  env: Io['env'],
  log: Log,
): PulledCertificate | null {
  if (!dns.tls.acme && !redirect.acme && !redirect.https.acme) return null
  const key = copyKeyOf(env)
  const path = join(dataDir, certificateCopyFile)
  const pulled = new PulledCertificate(
    key === null ? noCopy : createCertificateCopy(path, key, log),
  )
  pulled.start()
  return pulled
}

type From = 'urls' | 'token' | 'report' | 'sealed' | 'trusted' | 'log'

export function pullCertificate(
  pulled: PulledCertificate,
  parts: Pick<KeyPullerParts, From>,
): KeyPuller {
  const puller = new KeyPuller({
    ...{ ...parts, asks: certificateKind, revision: () => pulled.sentRevision },
    take: ({ revision, content }) => pulled.take(revision, Buffer.from(content).toString()),
    isAnyMissing: () => pulled.revision === 0,
    ...{ after: systemAfter, monotonicMs: systemClock.monotonicMs },
  })
  puller.start()
  return puller
}
