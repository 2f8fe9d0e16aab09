// Composes what gets and renews the certificates of an ACME server on a control node.
import { randomBytes, randomInt } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { AcmeKeeper } from '#integrations/acme/acme-keeper.ts'
import type { AcmeKeeperParts } from '#integrations/acme/acme-keeper.ts'
import { systemClock } from '#lib/clock.ts'
import type { ExternalAccount } from '#integrations/acme/order-certificate.ts'
import type { CertificateVault } from '#integrations/acme/certificate-vault.ts'
import type { AcmeWish } from '#integrations/acme/pauses.ts'
import { Random } from '#lib/random.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Settings } from '#settings/settings.ts'

const caFileBytesMax = 1_048_576
const keyFileBytesMax = 4_096

/** Gets all certificates of the settings, and renews them. */
export interface NodeAcme {
  readonly look: () => Promise<void>
  /** How far the clock of this node is ahead (+) of that of the CA; null: not known. */
  readonly clockOffsetMs: number | null
  readonly stop: () => Promise<void>
}

export interface WantedCertificate {
  /** An entry of `acme.certificates`; '': `acme.names`. */
  readonly entry: string
  readonly wish: AcmeWish
}

export const wantedOf = ({
  directory,
  names,
  certificates,
}: Pick<Settings['acme'], 'directory' | 'names' | 'certificates'>): readonly WantedCertificate[] =>
  [...(names.length > 0 ? [['', { names }] as const] : []), ...Object.entries(certificates)].map(
    ([entry, { names: all }]) => ({
      entry,
      wish: { directory, names: [...new Set(all.map((name) => name.toLowerCase()))] },
    }),
  )

export function createNodeAcme(
  settings: Pick<Settings, 'acme' | 'state'>,
  vault: Pick<CertificateVault, 'of'>,
  parts: Pick<AcmeKeeperParts, 'solver' | 'canProve' | 'log'>,
): NodeAcme {
  const instance = randomBytes(8).toString('hex')
  const wanted = wantedOf(settings.acme)
  const keepers = wanted.map(({ entry, wish }) => {
    const besides = wanted.flatMap((one) => (one.entry === entry ? [] : [one.wish]))
    const own = { entry, wish, besides, instance, vault: vault.of(entry) }
    return createAcmeKeeper(settings, { ...parts, ...own })
  })
  return {
    // One order at a time: proofs of another one would be taken for what a killed one left.
    look: async () => {
      const ordering = keepers.find(({ isOrdering }) => isOrdering)
      for (const keeper of ordering === undefined ? keepers : [ordering]) {
        await keeper.look()
        if (keeper.isOrdering) return
      }
    },
    get clockOffsetMs() {
      return keepers.map(({ clockOffsetMs }) => clockOffsetMs).find((ms) => ms !== null) ?? null
    },
    stop: async () => void (await Promise.all(keepers.map((keeper) => keeper.stop()))),
  }
}

type Own = 'vault' | 'solver' | 'canProve' | 'log' | 'entry' | 'wish' | 'besides' | 'instance'

function createAcmeKeeper(
  { acme, state }: Pick<Settings, 'acme' | 'state'>,
  parts: Pick<AcmeKeeperParts, Own>,
): AcmeKeeper {
  const { contact, agreeToTerms, caFile, eab } = acme
  return new AcmeKeeper({
    ...parts,
    ...{ contact, agreesToTerms: agreeToTerms },
    authorities: () =>
      caFile === undefined ? ok(undefined) : read(caFile, 'acme.caFile', caFileBytesMax),
    externalAccount: () => externalAccountOf(eab),
    // The first order loads the client and its libraries.
    order: async (order) => {
      const { orderCertificate } = await import('#integrations/acme/order-certificate.ts')
      return await orderCertificate(order)
    },
    askRenewal: async (question) => {
      const { askRenewal } = await import('#integrations/acme/ask-renewal.ts')
      return await askRenewal(question)
    },
    node: state.nodeName,
    ...{ clock: systemClock, random: new Random(randomInt(0x1_0000_0000)) },
  })
}

/** Errors: a sentence that reveals nothing of the key. */
function externalAccountOf({
  kid,
  hmacKey,
  hmacKeyFile,
}: Settings['acme']['eab']): Result<ExternalAccount | undefined, string> {
  if (kid === '') return ok(undefined)
  if (hmacKeyFile === undefined) return ok({ kid, hmacKey })
  const key = 'acme.eab.hmacKeyFile'
  const found = read(hmacKeyFile, key, keyFileBytesMax)
  if (!found.ok) return found
  const text = found.value.trim()
  const isKey = /^[A-Za-z0-9+/_-]+={0,2}$/.test(text)
  return isKey ? ok({ kid, hmacKey: text }) : err(`${key}: ${hmacKeyFile} has no key in base64url`)
}

function read(path: string, key: string, bytesMax: number): Result<string, string> {
  try {
    if (statSync(path).size > bytesMax) return err(`${key}: ${path} is too large`)
    return ok(readFileSync(path, 'utf8'))
  } catch (error) {
    return err(`${key}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}
